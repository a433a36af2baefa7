import type { Duty } from '../spec/stage.ts'
import { proves } from '../pipeline/match.ts'
import { pipelinesOf, stagesOf } from '../pipeline/nodes.ts'
import type { Condition, Pipeline, StepNode } from '../pipeline/nodes.ts'

/** A duty that a stage owes. */
export interface Debt extends Omit<Duty, 'ahead'> {
  /** The name of the stage. */
  readonly by: string
  /** Duties that must not be paid before it, in `finally`. */
  readonly ahead: readonly string[]
}

/** A duty to be paid after the step that owes it, within as many attempts as are around it. */
export interface LaterDebt extends Debt {
  readonly step: StepNode
  readonly depth: number
}

/** What is known of some paths to one point of a pipeline. They agree on which slots conditions can find there. */
export interface PathState {
  /** Slots that conditions ask for, as far as they may be there. */
  readonly slots: ReadonlyMap<string, 'sure' | 'maybe'>
  /** Duties that are paid on each of the paths. */
  readonly paid: ReadonlySet<string>
  /** Duties to be paid in `finally`, on some of the paths, by name. */
  readonly debts: ReadonlyMap<string, Debt>
  /** Duties to be paid later in the same `attempt`, or in the same pipeline, by name. */
  readonly after: ReadonlyMap<string, LaterDebt>
}

/** More states than these are joined, so that the time of a proof stays proportional to the number of steps. */
const mostStates = 64

/** The states in which paths can be, told apart by the slots for which conditions of any pipeline ask. */
export class PathStates {
  readonly #asked: ReadonlySet<string>

  constructor(pipelines: readonly Pipeline[]) {
    const steps = pipelines.flatMap(({ stages, finally: last }) => [...stages, ...last])
    this.#asked = new Set(conditionsOf(steps).map(({ slot }) => slot))
  }

  start(sure: readonly string[], maybe: readonly string[]): PathState {
    return this.with({ slots: new Map(), paid: new Set(), debts: new Map(), after: new Map() }, sure, maybe)
  }

  /** A state in which some slots have been given, and others perhaps. */
  with(state: PathState, sure: readonly string[], maybe: readonly string[] = []): PathState {
    const now = [
      ...maybe.filter((slot) => !state.slots.has(slot)).map((slot) => [slot, 'maybe'] as const),
      ...sure.map((slot) => [slot, 'sure'] as const),
    ].filter(([slot]) => this.#asked.has(slot))
    return now.length === 0 ? state : { ...state, slots: new Map([...state.slots, ...now]) }
  }

  /** Joins paths that agree. */
  merged(states: readonly PathState[]): readonly PathState[] {
    if (states.length < 2) return states
    const groups = Map.groupBy(states, ({ slots }) =>
      [...slots]
        .map(([slot, presence]) => `${slot} ${presence}`)
        .sort()
        .join(),
    )
    if (groups.size > mostStates) return [joined(states)]
    return [...groups.values()].map(joined)
  }
}

function joined(states: readonly PathState[]): PathState {
  const [first] = states as readonly [PathState]
  if (states.length === 1) return first
  const slots = new Set(states.flatMap((state) => [...state.slots.keys()]))
  const isSure = (slot: string) => states.every((state) => state.slots.get(slot) === 'sure')
  return {
    slots: new Map([...slots].map((slot) => [slot, isSure(slot) ? 'sure' : 'maybe'])),
    paid: states.reduce((paid: ReadonlySet<string>, state) => paid.intersection(state.paid), first.paid),
    debts: new Map(states.flatMap((state) => [...state.debts])),
    after: new Map(states.flatMap((state) => [...state.after])),
  }
}

/** The paths on which all conditions hold, and those on which one of them fails. */
export function split(
  states: readonly PathState[],
  conditions: readonly Condition[],
): { readonly held: readonly PathState[]; readonly failed: readonly PathState[] } {
  const held: PathState[] = []
  const failed: PathState[] = []
  for (const state of states) {
    let holding: PathState | undefined = state
    for (const condition of conditions) {
      const one: Answer = holding ? answer(condition, holding) : {}
      // What is known where one of several fails is only that: it may be any of them.
      if (one.failing) failed.push(conditions.length === 1 ? one.failing : state)
      holding = one.holding
    }
    if (holding) held.push(holding)
  }
  return { held, failed }
}

/** A state where a condition may hold, and one where it may fail. */
interface Answer {
  readonly holding?: PathState
  readonly failing?: PathState
}

function answer(condition: Condition, state: PathState): Answer {
  const { slot, test } = condition
  const presence = state.slots.get(slot)
  const isProof = proves(condition)
  const whole = test.kind === 'there'
  if (presence === undefined) return isProof ? { failing: state } : { holding: state }
  if (presence === 'sure' && whole) return isProof ? { holding: state } : { failing: state }
  const there = { ...state, slots: new Map([...state.slots, [slot, 'sure'] as const]) }
  const gone = { ...state, slots: new Map([...state.slots].filter(([name]) => name !== slot)) }
  if (presence === 'sure') return { holding: state, failing: state }
  if (isProof) return { holding: there, failing: whole ? gone : state }
  return { holding: whole ? gone : state, failing: there }
}

function conditionsOf(steps: readonly StepNode[]): Condition[] {
  return steps.flatMap((step): Condition[] => {
    if (step.kind === 'switch')
      return step.arms.flatMap(({ when = [], steps: inner }) => [...when, ...conditionsOf(inner)])
    return step.kind === 'attempt' ? conditionsOf([...step.steps, ...(step.otherwise ?? [])]) : []
  })
}

/** The slots that stages hand over to pipelines that they run, by the name of the pipeline. */
export function handedOver(pipelines: readonly Pipeline[]): ReadonlyMap<string, readonly string[]> {
  const stages = pipelines.flatMap((one) => stagesOf([...one.stages, ...one.finally]))
  const named = Map.groupBy(stages.flatMap(pipelinesOf), ({ name }) => name)
  return new Map([...named].map(([name, all]) => [name, all.flatMap(({ inputs = [] }) => inputs)]))
}
