import type { Box } from './measure.ts'
import { everyStep, optionOf, within } from './plan.ts'
import type { Plan, PlannedStep } from './plan.ts'

/** Lanes of threads, from the one next to the boxes to the left. Names end left of the last lane. */
export const lanes = { count: 7, right: 186, pitch: 14, names: 94, top: 26 } as const

/** What a step does with a slot. */
export interface Mark {
  readonly path: string
  readonly does: 'gives' | 'may give' | 'needs' | 'reads'
  readonly y: number
  /** Where the line to the step ends. */
  readonly to: number
}

/** A slot as a line from where it is given to where it is last needed. */
export interface Thread {
  readonly slot: string
  /** From 0, beside the boxes. */
  readonly lane: number
  readonly x: number
  readonly from: number
  readonly to: number
  /** To here the line goes on, dotted, because a later step reads the slot if it is there. */
  readonly read: number
  /** Nobody needs it: it is only read. */
  readonly dotted: boolean
  /** The line of its name. */
  readonly label: number
  readonly marks: readonly Mark[]
}

interface Use {
  readonly box: Box
  readonly does: Mark['does']
}

interface Span {
  readonly slot: string
  readonly uses: readonly Use[]
  readonly from: number
  /** The last need, and the last reading. */
  readonly to: number
  readonly read: number
}

export interface Threads {
  readonly threads: readonly Thread[]
  /** Slots that are needed while all lanes are taken. */
  readonly hidden: readonly string[]
}

/** The slots of a plan as threads. Those that are only read have a lane where one is left. */
export function threadsOf(plan: Plan, boxes: readonly Box[]): Threads {
  const spans = [...usesOf(boxes)].flatMap(([slot, uses]) => spanOf(slot, uses, plan, boxes) ?? [])
  const taken: { readonly lane: number; readonly from: number; readonly to: number }[] = []
  const free = (lane: number, from: number, to: number) =>
    taken.every((one) => one.lane !== lane || one.to < from || one.from > to)
  const threads: Thread[] = []
  const place = (span: Span, dotted: boolean) => {
    const to = dotted ? span.read : span.to
    const lane = Array.from({ length: lanes.count }, (_, index) => index).find((one) => free(one, span.from, to))
    if (lane === undefined) return
    taken.push({ lane, from: span.from, to })
    threads.push(threadOf(span, lane, to, dotted))
  }
  // What is needed goes first: those lines are the proof that the pipeline holds.
  const needed = spans.filter(({ from, to }) => to >= from).toSorted((one, other) => one.from - other.from)
  for (const span of needed) place(span, false)
  for (const [index, { slot, lane }] of threads.entries()) {
    const span = needed.find((one) => one.slot === slot)
    if (!span || span.read <= span.to || !free(lane, span.to + 1, span.read)) continue
    taken.push({ lane, from: span.to + 1, to: span.read })
    threads[index] = threadOf(span, lane, span.read, false)
  }
  for (const span of spans) if (span.to < span.from && span.read > span.from) place(span, true)
  const hidden = needed.map(({ slot }) => slot).filter((slot) => !threads.some((one) => one.slot === slot))
  return { threads: labelled(threads), hidden }
}

/** What the steps that are shown do with each slot, from top to bottom. */
function usesOf(boxes: readonly Box[]): ReadonlyMap<string, readonly Use[]> {
  const all = new Map<string, Use[]>()
  const add = (slots: readonly string[] | undefined, box: Box, does: Mark['does']) => {
    for (const slot of new Set(slots)) all.set(slot, [...(all.get(slot) ?? []), { box, does }])
  }
  const known = new Set(
    boxes.flatMap(({ step }) => [step.needs, step.reads, step.provides, step.gives].flatMap((slots) => slots ?? [])),
  )
  for (const box of boxes.toSorted((one, other) => one.y - other.y)) {
    const { needs, reads, provides, gives } = slotsOf(box, known)
    add(needs, box, 'needs')
    add(reads, box, 'reads')
    add(provides, box, 'gives')
    add(gives, box, 'may give')
  }
  return all
}

export type Slots = Pick<PlannedStep, 'needs' | 'reads' | 'provides' | 'gives'>

/** The slots of a box: of a stage, of all that a folded pipeline holds, of a condition, or what an attempt goes over. */
function slotsOf({ kind, step }: Box, known: ReadonlySet<string>): Slots {
  if (kind === 'folded') return slotsWithin(step)
  if (kind === 'use') return {}
  if (kind === 'attempt') {
    const over = optionOf(step, 'over')
    return typeof over === 'string' ? { needs: [over] } : {}
  }
  if (kind === 'switch') return conditionSlots(step, known)
  return step
}

/** A condition such as `target.virtual is true` needs its slot; `decision` and `no job` ask only whether it is there. */
function conditionSlots({ arms = [] }: PlannedStep, known: ReadonlySet<string>): Slots {
  const found = arms.flatMap(({ when = '' }) => {
    const [path = ''] = when.replace(/^no /, '').split(' ')
    // Names of slots may have a dot themselves.
    const slot = [...known].find((one) => path === one || path.startsWith(`${one}.`))
    return slot === undefined ? [] : [{ slot, needed: path !== slot }]
  })
  return {
    needs: found.filter(({ needed }) => needed).map(({ slot }) => slot),
    reads: found.filter(({ needed }) => !needed).map(({ slot }) => slot),
  }
}

/** What steps within another need from outside and give to what follows. */
function slotsWithin(step: PlannedStep): Slots {
  const given = new Set<string>()
  const needs = new Set<string>()
  const reads = new Set<string>()
  const sometimes = new Set<string>()
  for (const one of everyStep(within(step))) {
    for (const slot of one.needs ?? []) if (!given.has(slot)) needs.add(slot)
    for (const slot of one.reads ?? []) if (!given.has(slot) && !needs.has(slot)) reads.add(slot)
    for (const slot of one.provides ?? []) given.add(slot)
    for (const slot of one.gives ?? []) sometimes.add(slot)
  }
  return { needs: [...needs], reads: [...reads], provides: [...given], gives: [...sometimes] }
}

/** What a step needs and gives, or what all within it do. */
export const slotsOfStep = (step: PlannedStep): Slots => (step.kind === 'stage' ? step : slotsWithin(step))

function spanOf(slot: string, uses: readonly Use[], plan: Plan, boxes: readonly Box[]): Span | undefined {
  const ends = (kinds: readonly Mark['does'][]) =>
    Math.max(0, ...uses.filter(({ does }) => kinds.includes(does)).map(({ box }) => lineEnd(box)))
  const to = ends(['needs'])
  const read = Math.max(to, ends(['reads']))
  const given = uses.find(({ does }) => does === 'gives' || does === 'may give')
  const needed = uses.find(({ does }) => does === 'needs')
  if (given !== undefined && (needed === undefined || needed.box.y > given.box.y))
    return { slot, uses: uses.filter(({ box }) => box.y >= given.box.y), from: given.box.y, to, read }
  // A slot that is only read and that no step gives is one of other pipelines.
  if (needed === undefined) return undefined
  return {
    slot,
    uses: uses.filter(({ box }) => box.y >= needed.box.y),
    from: startOf(needed.box, slot, plan, boxes),
    to,
    read,
  }
}

/** Where a slot begins that no step gives: at the top, at the attempt that binds it for its tries, or where the end begins. */
function startOf(needed: Box, slot: string, plan: Plan, boxes: readonly Box[]): number {
  if (plan.inputs.includes(slot)) return lanes.top
  const around = boxes.find(({ kind, step }) => kind === 'attempt' && needed.step.path.startsWith(`${step.path}/`))
  if (around) return around.y + 6
  const last = needed.last ? boxes.find((box) => box.last) : undefined
  return last ? last.y - 12 : lanes.top
}

/** The lowest line that a mark may have in a box; frames have theirs at the head. */
const lineEnd = ({ kind, y, height }: Box): number => (kind === 'attempt' ? y + 26 : y + height)

function threadOf({ slot, uses, from, to }: Span, lane: number, end: number, dotted: boolean): Thread {
  const x = lanes.right - lane * lanes.pitch
  const marks = uses.flatMap(({ box, does }): Mark[] => {
    if (lineEnd(box) > end) return []
    // Lines to one box stay apart, one for each lane.
    const y = box.kind === 'switch' ? box.y + 12 : box.y + 5 + lane * 3
    // Boxes of further arms stand behind others, so that their lines end before those.
    const reach = box.row ? box.x : lanes.right + 6
    return [{ path: box.step.path, does, y, to: Math.max(reach, x + 6) }]
  })
  const first = marks[0]
  const begins = first?.does === 'gives' || first?.does === 'may give' ? first.y : from
  const solid = marks.filter(({ y, does }) => does === 'needs' && y <= to).map(({ y }) => y)
  const until = Math.max(begins, ...(dotted ? marks.map(({ y }) => y) : solid))
  const read = Math.max(until, ...marks.map(({ y }) => y))
  return { slot, lane, x, from: begins, to: until, read, dotted, label: begins, marks }
}

/** Gives each thread a line for its name, at least 13 px below the one before. */
function labelled(threads: readonly Thread[]): readonly Thread[] {
  let free = 0
  return threads
    .toSorted((one, other) => one.from - other.from || one.lane - other.lane)
    .map((thread) => {
      const label = Math.max(thread.from, free)
      free = label + 13
      return { ...thread, label }
    })
}
