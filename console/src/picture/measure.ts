import type { PlannedStep } from './plan.ts'

/** Measures of the picture in pixels. */
export const size = {
  box: 26,
  gap: 10,
  /** Between a frame and what stands before or after it. */
  frameGap: 14,
  /** The head of an included pipeline and of an attempt, and the room below their last step. */
  head: 30,
  /** A try of one request, below the head of its attempt. */
  pass: 18,
  foot: 10,
  diamond: 24,
  armHead: 24,
  armGap: 18,
  /** From the left edge of a column's boxes to its trunk. */
  trunk: 20,
  column: 200,
  firstArm: 168,
  /** From boxes to the innermost frame around them, and from that to each further one. */
  inset: 12,
  nest: 10,
  /** Room for the arrow of an attempt and its words. */
  again: 66,
  top: 42,
} as const

/** A step's place: a stage, a folded pipeline, the ground of an open one, the frame of an attempt or a switch's diamond. */
export interface Box {
  readonly kind: 'stage' | 'folded' | 'use' | 'attempt' | 'switch'
  readonly step: PlannedStep
  /** From 1, as screen readers count. */
  readonly level: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** Whether its times stand in the column of times, or in the box because another box has that row. */
  readonly row: boolean
  readonly last: boolean
}

/** Widths of mono text of 12 px and of sans text of 11 px, rounded up. */
export const monoWidth = (text: string): number => Math.ceil(text.length * 7.3)
const wordsWidth = (text: string): number => Math.ceil(text.length * 5.8)

/** How far steps reach to the left of their column's boxes, and to the right of its left edge. */
export interface Extent {
  readonly left: number
  readonly right: number
}

/** How many frames stand within one another here. An included pipeline counts as one that holds an attempt, so that grounds line up. */
function frames(step: PlannedStep, folded: ReadonlySet<string>): number {
  if (folded.has(step.path)) return 0
  const own = step.kind === 'use' || step.kind === 'attempt' ? 1 : 0
  const first = step.arms ? (step.arms[0]?.do ?? []) : [...(step.do ?? []), ...(step.otherwise ?? [])]
  const all = own + Math.max(0, ...first.map((inner) => frames(inner, folded)))
  return step.kind === 'use' ? Math.max(2, all) : all
}

/** How far the frame of a step stands from the boxes of its column. */
export function insetOf(step: PlannedStep, folded: ReadonlySet<string>): number {
  return size.inset + (frames(step, folded) - 1) * size.nest
}

/** The extent of steps below one another, whose boxes are `width` wide. */
export function extentOf(steps: readonly PlannedStep[], width: number, folded: ReadonlySet<string>): Extent {
  let extent: Extent = { left: 0, right: width }
  for (const step of steps) {
    const { left, right } = extentOfStep(step, width, folded)
    extent = { left: Math.max(extent.left, left), right: Math.max(extent.right, right) }
  }
  return extent
}

function extentOfStep(step: PlannedStep, width: number, folded: ReadonlySet<string>): Extent {
  if (folded.has(step.path)) return { left: 0, right: width }
  if (step.kind === 'switch') return extentOfSwitch(step, width, folded)
  if (step.kind !== 'use' && step.kind !== 'attempt') return { left: 0, right: width }
  const inner = extentOf([...(step.do ?? []), ...(step.otherwise ?? [])], width, folded)
  const again = step.kind === 'attempt' ? size.again : 0
  const inset = size.inset + (step.kind === 'use' ? size.nest : 0)
  return {
    left: Math.max(insetOf(step, folded), inner.left),
    right: Math.max(inner.right, width + again) + inset,
  }
}

function extentOfSwitch(step: PlannedStep, width: number, folded: ReadonlySet<string>): Extent {
  const columns = columnsOf(step, width, folded)
  const last = columns.at(-1)
  const label = size.trunk + 22 + monoWidth(`switch ${switchWords(step)}`)
  return { left: columns[0]?.extent.left ?? 0, right: Math.max(label, last ? last.x + last.extent.right : 0) }
}

/** An arm's column: its place from the left edge of the switch's own column, and the width of its boxes. */
export interface Column {
  readonly x: number
  readonly width: number
  readonly extent: Extent
  readonly label: string
  readonly steps: readonly PlannedStep[]
  /** An arm that no line of the file stands for: none of the conditions held. */
  readonly implied: boolean
}

/** The columns of a switch: its arms, and the way past them where it has no default arm. */
export function columnsOf(step: PlannedStep, width: number, folded: ReadonlySet<string>): readonly Column[] {
  const arms = (step.arms ?? []).map((arm) => ({ ...arm, implied: false }))
  if (arms.every(({ when }) => when !== undefined)) arms.push({ do: [], implied: true })
  const columns: Column[] = []
  let x = 0
  for (const [index, arm] of arms.entries()) {
    const label = arms.length === 2 ? (index === 0 ? 'yes' : 'else') : (arm.when ?? 'else')
    const box = index === 0 ? Math.min(width, size.firstArm) : sideWidth(arm.do)
    const inner = extentOf(arm.do, box, folded)
    // The words of an arm stand beside its line, with room for its share.
    const words = size.trunk + 8 + wordsWidth(label) + 36
    const extent = { left: inner.left, right: Math.max(inner.right, words) }
    if (index > 0) x += extent.left
    columns.push({ x, width: box, extent, label, steps: arm.do, implied: arm.implied })
    x += extent.right + size.armGap
  }
  return columns
}

/** Boxes of a further arm hold their times themselves, because the column of times belongs to the first arm. */
function sideWidth(steps: readonly PlannedStep[]): number {
  const names = steps.flatMap(({ name, do: inner = [] }) => [name ?? '', ...inner.map((one) => one.name ?? '')])
  return Math.max(92, ...names.map((name) => 13 + monoWidth(name) + 64))
}

/** What stands beside the diamond: the condition, where there is but one. */
export function switchWords({ arms = [] }: PlannedStep): string {
  const conditions = arms.flatMap(({ when }) => when ?? [])
  return conditions.length === 1 ? (conditions[0] ?? '') : ''
}
