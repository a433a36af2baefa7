import type { Diagnostic } from '../config/diagnostics.ts'
import type { AnyStage, Duty } from '../spec/stage.ts'
import { paidBy } from './duties.ts'
import type { Duties } from './duties.ts'
import { givenBy, reportAt } from '../pipeline/nodes.ts'
import type { AttemptNode, Pipeline, StageNode, StepNode, SwitchNode, UseNode } from '../pipeline/nodes.ts'
import { split } from './path-states.ts'
import type { Debt, PathState, PathStates } from './path-states.ts'

/** The code of findings about duties that are not paid. */
export const unpaidDuty = 'duty'

/** A duty that is not paid. */
export type Unpaid = Diagnostic & {
  /** Present: it is owed only while this service has other settings than its defaults. */
  readonly service?: string
  /** Present: it is a warning, until this names in the records what would be missed. */
  readonly unless?: Duty['unless']
  /** The pipeline that does not pay. */
  readonly pipeline: string
}

/** What the proofs of all pipelines share. */
export interface ProofContext {
  readonly byName: ReadonlyMap<string, Pipeline>
  readonly duties: Duties
  readonly states: PathStates
  /** The slots that stages hand over to pipelines that they run, by name. */
  readonly handed: ReadonlyMap<string, readonly string[]>
}

/** The steps of a pipeline, or of an `attempt`, while they are walked. */
interface Frame {
  readonly pipeline: Pipeline
  /** The step that is walked. */
  step: StepNode
}

type States = readonly PathState[]

/** Walks every path of a pipeline that runs on its own. */
export class DutyProof {
  readonly #root: Pipeline
  readonly #context: ProofContext
  readonly #found: Unpaid[] = []
  /** What is around the current step, from the outside to the inside. */
  readonly #frames: Frame[] = []
  /** Where the walk last left a pipeline of the operator. */
  #left: Frame | undefined
  /** The frame and the name of what gave a slot last. */
  readonly #givers = new Map<string, { readonly frame: Frame; readonly name: string }>()
  readonly #seen = new Set<string>()
  readonly #exits: PathState[] = []
  #depth = 0
  #understood = true
  /** In `finally`: the step before which a duty belongs, by duty. */
  #belongs: Map<string, Frame> | undefined

  constructor(root: Pipeline, context: ProofContext) {
    this.#root = root
    this.#context = context
  }

  run(): readonly Unpaid[] {
    const { handed, states } = this.#context
    const sure = [...this.#root.inputs, ...(this.#root.routes.length > 0 ? ['ingress'] : [])]
    const ends = this.#list(this.#root, this.#root.stages, [states.start(sure, handed.get(this.#root.name) ?? [])])
    this.#unpaidAfter(ends)
    this.#exit(ends)
    this.#finally()
    return this.#understood ? this.#found : []
  }

  /** Proves what is owed however the exchange ended. */
  #finally(): void {
    const { states } = this.#context
    const { finally: steps, stages } = this.#root
    this.#belongs = new Map()
    this.#seen.clear()
    const ends = this.#list(this.#root, steps, states.merged(this.#exits.map((one) => states.with(one, ['outcome']))))
    const unpaid = new Map(ends.flatMap(({ debts }) => [...debts]))
    const last = steps.at(-1) ?? stages.at(-1)
    for (const debt of unpaid.values()) {
      const before = this.#belongs.get(debt.duty)
      const where = before
        ? 'before this step'
        : steps.length > 0
          ? 'after this step'
          : 'to a "finally" behind the stages'
      const why = this.#seen.has(debt.duty) ? 'only some paths through "finally" pay' : 'nothing in "finally" pays'
      const step = before?.step ?? last
      if (step) this.#report(step, debt, `which ${why}`, where)
    }
  }

  #list(pipeline: Pipeline, steps: readonly StepNode[], states: States): States {
    const [step] = steps
    if (step === undefined) return states
    const frame: Frame = { pipeline, step }
    this.#frames.push(frame)
    const ends = this.#steps(steps, states)
    this.#frames.pop()
    if (!pipeline.shipped) this.#left = frame
    return ends
  }

  #steps(steps: readonly StepNode[], states: States): States {
    let now = states
    for (const step of steps) {
      this.#frame.step = step
      // A path that no state takes does not exist.
      if (now.length > 0) now = this.#step(step, now)
    }
    return now
  }

  #step(step: StepNode, states: States): States {
    switch (step.kind) {
      case 'stage':
        return this.#stage(step, states)
      case 'use':
        return this.#use(step, states)
      case 'switch':
        return this.#switch(step, states)
      case 'attempt':
        return this.#attempt(step, states)
      case 'unknown':
        this.#understood = false
        return states
    }
  }

  #stage({ stage, config }: StageNode, states: States): States {
    const { needs, provides, gives } = stage
    const pays = paidBy(stage, config)
    const owing = this.#owing(stage, states)
    this.#exit(owing)
    // In `finally`, what follows a failure runs, and what is owed stays owed.
    if (stage.ends) return this.#belongs ? owing : []
    for (const duty of pays) this.#pay(duty, owing)
    // A stage that does not need what it gives has not made it of what was there.
    const anew = givenBy(stage).filter((slot) => !needs.includes(slot))
    for (const slot of anew) this.#given(slot, stage.name)
    const lost = new Set(anew.flatMap((slot) => this.#context.duties.about(slot)))
    return owing.map((state) => ({
      ...this.#context.states.with(state, provides, gives),
      paid: state.paid.difference(lost).union(new Set(pays)),
      after: without(state.after, pays),
      debts: without(state.debts, pays),
    }))
  }

  /** Checks what a stage owes before it runs, and adds what it owes later. */
  #owing(stage: AnyStage, states: States): States {
    const waived = new Set(this.#frames.flatMap(({ pipeline }) => pipeline.without))
    const owed = this.#context.duties
      .owedBy(stage)
      .filter(({ duty, with: other }) => !waived.has(duty) && (other === undefined || !waived.has(other)))
    if (owed.length === 0) return states
    const isPaid = ({ duty }: Debt) => states.every(({ paid }) => paid.has(duty))
    for (const debt of owed) if (debt.at === 'before' && !isPaid(debt)) this.#unpaidBefore(debt)
    const around = { step: this.#frame.step, depth: this.#depth }
    const after = owed.filter(({ at }) => at === 'after').map((debt) => [debt.duty, { ...debt, ...around }] as const)
    return states.map((state) => {
      const late = owed.filter(({ at, duty }) => at === 'finally' || (at === undefined && !state.paid.has(duty)))
      const debts = new Map([...late.map((debt) => [debt.duty, debt] as const), ...state.debts])
      return { ...state, debts, after: new Map([...state.after, ...after]) }
    })
  }

  #pay(duty: string, states: States): void {
    this.#seen.add(duty)
    if (this.#belongs === undefined) return
    const late = this.#belongs.get(duty)
    const debts = states.flatMap((state) => [...state.debts.values()])
    const debt = debts.find((one) => one.duty === duty)
    if (late && debt) this.#misplaced(late.step, debt)
    for (const one of debts)
      if (one.ahead.includes(duty) && one.duty !== duty && !this.#belongs.has(one.duty))
        this.#belongs.set(one.duty, { ...this.#own(0) })
  }

  #given(slot: string, name: string): void {
    this.#givers.set(slot, { frame: this.#frame, name })
  }

  #use({ pipeline }: UseNode, states: States): States {
    const target = this.#context.byName.get(pipeline)
    if (target === undefined || this.#frames.some((frame) => frame.pipeline === target)) {
      this.#understood = false
      return states
    }
    return this.#list(target, target.stages, states)
  }

  #switch({ arms }: SwitchNode, states: States): States {
    let rest = states
    const ends = arms.flatMap(({ when = [], steps }) => {
      const { held, failed } = split(rest, when)
      rest = failed
      return this.#steps(steps, held)
    })
    return this.#context.states.merged([...ends, ...rest])
  }

  #attempt({ steps, otherwise }: AttemptNode, states: States): States {
    const { duties, states: all } = this.#context
    const lost = new Set(duties.about('model'))
    const before = this.#exits.length
    this.#depth++
    const { pipeline } = this.#frame
    const begun = states.map((state) => ({ ...all.with(state, ['model']), paid: state.paid.difference(lost) }))
    const served = this.#tried(pipeline, steps, begun)
    this.#unpaidAfter(served)
    this.#depth--
    if (otherwise === undefined) return served
    // What failed tries owe stays owed.
    const debts = this.#exits.slice(before).flatMap((exit) => [...exit.debts])
    const failed = states.map((state) => ({ ...state, debts: new Map([...debts, ...state.debts]) }))
    return all.merged([...served, ...this.#steps(otherwise, failed)])
  }

  #tried(pipeline: Pipeline, steps: readonly StepNode[], states: States): States {
    const frame: Frame = { pipeline, step: steps[0] as StepNode }
    this.#frames.push(frame)
    this.#given('model', 'attempt')
    const ends = this.#steps(steps, states)
    this.#frames.pop()
    return ends
  }

  /** The exchange may end here, while something is owed. */
  #exit(states: States): void {
    this.#exits.push(...states.filter(({ debts }) => debts.size > 0 && this.#belongs === undefined))
  }

  #unpaidBefore(debt: Debt): void {
    const { of: slot, duty } = debt
    const giver = slot === undefined ? undefined : this.#givers.get(slot)
    const inside = giver ? this.#frames.indexOf(giver.frame) : 0
    const why = giver
      ? `which nothing has paid since "${giver.name}" gave "${slot}"`
      : `which ${this.#seen.has(duty) ? 'only some paths to it pay' : 'nothing before it pays'}`
    const frame = this.#own(inside)
    this.#report(frame.step, debt, why, this.#frames.includes(frame) ? 'before this step' : 'after this step')
  }

  /** Reports what should have been paid by the end of a try, or of the pipeline. */
  #unpaidAfter(states: States): void {
    const unpaid = new Map(states.flatMap(({ after }) => [...after]).filter(([, { depth }]) => depth >= this.#depth))
    for (const debt of unpaid.values()) this.#report(debt.step, debt, 'which nothing after it pays', 'after this step')
  }

  /** Where a finding helps the operator: not in a file of the product, unless everything is. */
  #own(from: number): Frame {
    const own = this.#frames.slice(Math.max(from, 0)).find(({ pipeline }) => !pipeline.shipped)
    return own ?? this.#left ?? (this.#frames[Math.max(from, 0)] as Frame)
  }

  get #frame(): Frame {
    return this.#frames.at(-1) as Frame
  }

  #report({ place }: StepNode, { by, duty, while: service, unless }: Debt, why: string, where: string): void {
    const message = `"${by}" owes "${duty}", ${why}; ${this.#context.duties.remedy(duty, where)}`
    const when = { ...(service === undefined ? {} : { service }), ...(unless ? { unless } : {}) }
    this.#found.push({ ...reportAt(place, unpaidDuty, message), ...when, pipeline: this.#root.name })
  }

  #misplaced({ place }: StepNode, { by, duty }: Debt): void {
    const message = `"${duty}", which "${by}" owes, must stand before this step`
    this.#found.push({ ...reportAt(place, 'duty-order', message), pipeline: this.#root.name })
  }
}

function without<T>(debts: ReadonlyMap<string, T>, paid: readonly string[]): ReadonlyMap<string, T> {
  return paid.some((duty) => debts.has(duty)) ? new Map([...debts].filter(([duty]) => !paid.includes(duty))) : debts
}
