import { columnsOf, extentOf, insetOf, size } from './measure.ts'
import type { Box } from './measure.ts'
import { armPath } from './plan.ts'
import type { Plan, PlannedStep } from './plan.ts'
import { lanes, threadsOf } from './threads.ts'
import type { Thread } from './threads.ts'

/** A line of the trunk and its arms. */
export interface Wire {
  readonly points: readonly (readonly [x: number, y: number])[]
  /** The path of the arm that it leads through. */
  readonly arm?: string
  readonly dotted?: boolean
}

/** The words of an arm, or `otherwise` and `finally`. */
export interface Label {
  readonly x: number
  readonly y: number
  readonly text: string
  readonly arm?: string
}

/** The way back of an attempt, from its last step to its first. */
export interface Arrow {
  readonly path: string
  readonly x: number
  readonly from: number
  readonly to: number
}

export interface Layout {
  readonly boxes: readonly Box[]
  readonly threads: readonly Thread[]
  /** Slots that are needed while all lanes are taken: the picture names them only. */
  readonly hidden: readonly string[]
  readonly arrows: readonly Arrow[]
  readonly wires: readonly Wire[]
  readonly labels: readonly Label[]
  /** Where the column of times begins. */
  readonly times: number
  readonly width: number
  readonly height: number
}

/** Where a picture is drawn at the moment: a column of steps below one another. */
interface Place {
  readonly x: number
  readonly width: number
  readonly level: number
  readonly row: boolean
  /** The end of the trunk so far, the lowest line of what is drawn, and the next free line. */
  readonly trunk: number
  readonly bottom: number
  readonly y: number
  readonly arm?: string
}

/**
 * The places of everything in the picture of a pipeline. `folded` has the paths of included pipelines that are one box,
 * `tries` is how many one request made.
 */
export function layout(plan: Plan, folded: ReadonlySet<string> = new Set(), tries = 0): Layout {
  const steps = [...plan.plan, ...plan.finally]
  const extent = extentOf(steps, size.column, folded)
  const x = lanes.right + 8 + Math.max(20, extent.left)
  const drawing = new Drawing(folded, tries)
  let place: Place = { x, width: size.column, level: 1, row: true, trunk: 20, bottom: 20, y: size.top }
  place = drawing.column(plan.plan, place, false)
  if (plan.finally.length > 0) {
    const y = place.y + size.armHead
    drawing.wires.push({ points: line(x, place.trunk, y), dotted: true })
    drawing.labels.push({ x: x + size.trunk + 8, y: y - 9, text: 'finally' })
    place = drawing.column(plan.finally, { ...place, trunk: y, y }, true)
  }
  const times = x + Math.max(size.column + 90, extent.right) + 14
  const { boxes, arrows, wires, labels } = drawing
  const { threads, hidden } = threadsOf(plan, boxes)
  return { boxes, threads, hidden, arrows, wires, labels, times, width: times + 148, height: place.bottom + 16 }
}

/** A piece of a column's trunk. */
const line = (x: number, from: number, to: number): Wire['points'] => [
  [x + size.trunk, from],
  [x + size.trunk, to],
]

class Drawing {
  readonly boxes: Box[] = []
  readonly arrows: Arrow[] = []
  readonly wires: Wire[] = []
  readonly labels: Label[] = []
  readonly #folded: ReadonlySet<string>
  readonly #tries: number

  constructor(folded: ReadonlySet<string>, tries: number) {
    this.#folded = folded
    this.#tries = tries
  }

  /** Draws steps below one another and returns the place after them. */
  column(steps: readonly PlannedStep[], start: Place, last: boolean): Place {
    let place = start
    for (const step of steps) {
      const open = !this.#folded.has(step.path)
      if (step.kind === 'switch') place = this.#switch(step, place, last)
      else if (step.kind === 'use' && open) place = this.#frame(step, 'use', place, last)
      else if (step.kind === 'attempt') place = this.#frame(step, 'attempt', place, last)
      else place = this.#box(step, place, last)
    }
    return place
  }

  #box(step: PlannedStep, place: Place, last: boolean): Place {
    const { x, y, width, level, row } = place
    this.#trunk(place, y)
    const kind = step.kind === 'use' ? 'folded' : 'stage'
    this.boxes.push({ kind, step, level, x, y, width, height: size.box, row, last })
    const bottom = y + size.box
    return { ...place, trunk: bottom, bottom, y: bottom + size.gap }
  }

  /** An included pipeline or an attempt: its head, its steps, and what runs otherwise. */
  #frame(step: PlannedStep, kind: 'use' | 'attempt', place: Place, last: boolean): Place {
    const { x, width, level, row } = place
    const top = place.y
    const head = size.head + (kind === 'attempt' ? this.#tries * size.pass : 0)
    const inner = { ...place, level: level + 1, y: top + head }
    const at = this.boxes.length
    let end = this.column(step.do ?? [], inner, last)
    if (kind === 'attempt') {
      const right = x + extentOf(step.do ?? [], width, this.#folded).right
      this.arrows.push({
        path: step.path,
        x: right,
        from: end.trunk - size.box / 2,
        to: inner.y + size.box / 2,
      })
    }
    if (step.otherwise && step.otherwise.length > 0) {
      const y = end.y + size.armHead
      this.labels.push({ x: x + size.trunk + 8, y: y - 8, text: 'otherwise' })
      this.wires.push({ points: line(x, end.trunk, y), dotted: true })
      end = this.column(step.otherwise, { ...end, trunk: y, y }, last)
    }
    const bottom = end.bottom + size.foot
    const inset = insetOf(step, this.#folded)
    const { right } = extentOf([step], width, this.#folded)
    this.boxes.splice(at, 0, {
      kind,
      step,
      level,
      x: x - inset,
      y: top,
      width: right + inset,
      height: bottom - top,
      row,
      last,
    })
    return { ...place, trunk: end.trunk, bottom, y: bottom + size.frameGap }
  }

  /** A diamond, its arms side by side, and the line where they meet again. */
  #switch(step: PlannedStep, place: Place, last: boolean): Place {
    const { x, width, level } = place
    const y = place.y
    this.#trunk(place, y)
    const diamond = { x: x + size.trunk - 14, y, width: 28, height: size.diamond }
    this.boxes.push({ kind: 'switch', step, level, ...diamond, row: place.row, last })
    const below = y + size.diamond
    const top = below + size.armHead
    const columns = columnsOf(step, width, this.#folded)
    const ends = columns.map((column, index) => {
      const arm = armPath(step, index)
      const at = x + column.x
      const way = { arm, ...(column.implied && { dotted: true }) }
      if (index > 0) {
        const turn = at + size.trunk
        const from: Wire['points'] = [
          [x + size.trunk + 14, y + size.diamond / 2],
          [turn, y + size.diamond / 2],
          [turn, top],
        ]
        this.wires.push({ points: from, ...way })
      } else this.wires.push({ points: line(at, below, top), ...way })
      this.labels.push({ x: at + size.trunk + 8, y: top - 6, text: column.label, arm })
      const row = place.row && index === 0
      const start = { x: at, width: column.width, level: level + 1, row, trunk: top, bottom: top, y: top, arm }
      return { ...this.column(column.steps, start, last), index, at, way }
    })
    const join = Math.max(...ends.map(({ bottom }) => bottom)) + size.gap
    for (const { index, at, trunk, way } of ends)
      if (index === 0) this.wires.push({ points: line(at, trunk, join), ...way })
      else {
        const turn = at + size.trunk
        const back: Wire['points'] = [
          [turn, trunk],
          [turn, join],
          [x + size.trunk, join],
        ]
        this.wires.push({ points: back, ...way })
      }
    return { ...place, trunk: join, bottom: join, y: join + size.frameGap }
  }

  /** The trunk from where it ends to the next step. */
  #trunk({ x, trunk, arm }: Place, y: number): void {
    if (y > trunk) this.wires.push({ points: line(x, trunk, y), ...(arm !== undefined && { arm }) })
  }
}
