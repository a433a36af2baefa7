import type { Diagnostic } from '../config/diagnostics.ts'
import type { Registry } from '../config/registry.ts'
import { didYouMean } from '../config/suggest.ts'
import { asksFirst } from '../pipeline/access.ts'
import { proves } from '../pipeline/match.ts'
import type { Condition } from '../pipeline/nodes.ts'
import type { Named } from '../pipeline/nodes.ts'
import { reportAt, within } from '../pipeline/nodes.ts'
import type { AttemptNode, Pipeline, Place, StageNode, StepNode, SwitchNode, UseNode } from '../pipeline/nodes.ts'

/** The slots known at one point of a pipeline. */
interface Known {
  /** Set on every path to this point. */
  sure: ReadonlySet<string>
  /** Set on some path; includes the sure ones. */
  maybe: ReadonlySet<string>
  /** Whether every path has a step that could not be parsed, which may have given any slot. */
  sureOfAll: boolean
  /** Whether some path has such a step. */
  maybeAll: boolean
  /** The stage with which every path ended before this point. Nothing is asked of what is never reached. */
  ended?: string
}

/**
 * Proves that each stage finds the slots it needs, that a served pipeline authenticates its client first and always
 * replies, and that included pipelines exist. Includes are checked where they are used and, once, on their own.
 * @param stages of the configuration; findings name those that give a missing slot
 * @param incomplete whether some pipeline could not be read; an unknown name may then be its name
 */
export function checkFlow(
  pipelines: readonly Pipeline[],
  { stages }: Pick<Registry, 'stages'>,
  incomplete = false,
): Diagnostic[] {
  const checker = new FlowChecker(pipelines, stages, incomplete)
  for (const pipeline of pipelines) checker.check(pipeline)
  return checker.diagnostics
}

class FlowChecker {
  readonly diagnostics: Diagnostic[] = []
  readonly #byName: ReadonlyMap<string, Pipeline>
  readonly #stages: Registry['stages']
  readonly #incomplete: boolean
  readonly #results = new Map<Pipeline, Known>()
  readonly #open: Pipeline[] = []

  constructor(pipelines: readonly Pipeline[], stages: Registry['stages'], incomplete: boolean) {
    this.#stages = stages
    this.#incomplete = incomplete
    this.#byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  }

  check(pipeline: Pipeline): Known {
    const done = this.#results.get(pipeline)
    if (done) return done
    this.#open.push(pipeline)
    const routed = pipeline.routes.length > 0 || pipeline.actionsAt !== undefined
    if (routed) this.#inputs(pipeline)
    const start = new Set(routed ? ['ingress', ...pipeline.inputs] : pipeline.inputs)
    const end = this.#walk(pipeline.stages, { sure: start, maybe: start, sureOfAll: false, maybeAll: false })
    this.#results.set(pipeline, end)
    if (routed && !end.sure.has('reply') && !end.sureOfAll)
      this.#report(
        within(pipeline.place, 'routes'),
        'no-reply',
        'not every path through this pipeline ends with a reply',
        'key',
      )
    if (routed && !pipeline.public && !asksFirst(pipeline.stages, this.#byName))
      this.#report(
        within(pipeline.place, 'routes'),
        'no-access',
        'the first stage must authenticate the client (provide "principal"), or the pipeline must say "public: true"',
        'key',
      )
    this.#walk(pipeline.finally, {
      sure: new Set([...start, 'outcome']),
      maybe: new Set([...end.maybe, 'outcome']),
      sureOfAll: false,
      maybeAll: end.maybeAll,
    })
    this.#open.pop()
    return end
  }

  #inputs({ place, inputs }: Pipeline): void {
    inputs.forEach((slot, index) => {
      if (slot !== 'ingress')
        this.#report(
          within(place, 'inputs', index),
          'inputs',
          `a request provides only "ingress"; nothing gives "${slot}" to a pipeline with routes`,
        )
    })
  }

  #walk(steps: readonly StepNode[], start: Known): Known {
    let known = start
    for (const step of steps) {
      if (known.ended !== undefined) {
        this.#report(step.place, 'unreachable', `"${known.ended}" ends the path, so this step is never reached`)
        return known
      }
      known = this.#step(step, known)
    }
    return known
  }

  #step(step: StepNode, known: Known): Known {
    switch (step.kind) {
      case 'unknown':
        return { ...known, sureOfAll: true, maybeAll: true }
      case 'stage':
        return this.#stage(step, known)
      case 'use':
        return this.#use(step, known)
      case 'switch':
        return this.#switch(step, known)
      case 'attempt':
        return this.#attempt(step, known)
    }
  }

  #stage({ stage, config, place, names }: StageNode, known: Known): Known {
    for (const named of names) if (named.kind === 'pipeline' && named.inputs) this.#dispatched(named, stage.name)
    const ingress = stage.body === undefined ? [] : ['ingress']
    const needs = new Set([...stage.needs, ...(stage.insists?.(config) ?? []), ...ingress])
    const after = perhaps(given(this.#need([...needs], stage.name, place, known), stage.provides), stage.gives)
    return stage.ends ? { ...after, sureOfAll: true, ended: stage.name } : after
  }

  #use({ pipeline: name, place }: UseNode, known: Known): Known {
    const target = this.#exists(name, place)
    if (target === undefined) return { ...known, sureOfAll: true, maybeAll: true }
    if (this.#open.includes(target)) {
      this.#report(place, 'include-cycle', `pipelines include each other: ${this.#circle(target)}`)
      return { ...known, sureOfAll: true, maybeAll: true }
    }
    if (target.finally.length > 0)
      this.#report(place, 'use-finally', `"${name}" has a "finally", which an include would leave out`)
    const inner = this.check(target)
    const satisfied = this.#need(target.inputs, name, place, known)
    return {
      sure: new Set([...satisfied.sure, ...inner.sure]),
      maybe: new Set([...satisfied.maybe, ...inner.maybe]),
      sureOfAll: known.sureOfAll || inner.sureOfAll,
      maybeAll: known.maybeAll || inner.maybeAll,
      ...(inner.ended === undefined ? {} : { ended: inner.ended }),
    }
  }

  /**
   * Checks a pipeline that a stage runs: its inputs are handed over, it gives the expected slots, and there is no
   * cycle.
   */
  #dispatched({ name, place, inputs = [], gives = [] }: Named, stage: string): void {
    const target = this.#byName.get(name)
    if (target === undefined) return
    if (this.#open.includes(target))
      return this.#report(place, 'dispatch-cycle', `pipelines run each other: ${this.#circle(target)}`)
    const { sure, maybe, sureOfAll, maybeAll } = this.check(target)
    const wanted = target.routes.length > 0 ? ['ingress', ...target.inputs] : target.inputs
    for (const slot of new Set(wanted))
      if (!inputs.includes(slot))
        this.#report(place, 'not-handed-over', `"${name}" begins with "${slot}", which "${stage}" does not hand over`)
    for (const slot of sureOfAll ? [] : gives) {
      if (sure.has(slot)) continue
      const why =
        maybe.has(slot) || maybeAll ? 'which only some of its paths provide' : 'which none of its stages provides'
      this.#report(place, 'not-given', `"${stage}" expects "${slot}" of "${name}", ${why}`)
    }
  }

  #circle(target: Pipeline): string {
    const circle = [...this.#open.slice(this.#open.indexOf(target)), target]
    return circle.map(({ name }) => name).join(' -> ')
  }

  #switch({ arms }: SwitchNode, known: Known): Known {
    let otherwise = known
    const ends = arms.map(({ when = [], steps }) => {
      for (const condition of when) this.#condition(condition, otherwise)
      const proven = when.filter(proves).map(({ slot }) => slot)
      const end = this.#walk(steps, given(otherwise, proven))
      // If several conditions fail, it is unknown which one did.
      const [only] = when.length === 1 ? when : []
      if (only && !proves(only)) otherwise = given(otherwise, [only.slot])
      return end
    })
    return merge(arms.every((arm) => arm.when !== undefined) ? [...ends, otherwise] : ends)
  }

  #condition({ slot, place }: Condition, known: Known): void {
    if (known.maybe.has(slot) || known.maybeAll) return
    this.#report(
      place,
      'missing-slot',
      `condition reads "${slot}", which nothing earlier provides${this.#remedy(slot, known)}`,
      'key',
    )
  }

  #attempt({ over, steps, otherwise, place }: AttemptNode, known: Known): Known {
    const start = this.#need([over], 'attempt', place, known)
    const served = this.#walk(steps, given(start, ['model']))
    return otherwise === undefined ? served : merge([served, this.#walk(otherwise, start)])
  }

  /** Reports each slot that may be missing, and treats it as set from there on. */
  #need(slots: readonly string[], who: string, place: Place, known: Known): Known {
    const missing = known.sureOfAll ? [] : slots.filter((slot) => !known.sure.has(slot))
    for (const slot of missing) {
      const why =
        known.maybe.has(slot) || known.maybeAll
          ? 'which only some paths provide'
          : `which no earlier stage provides${this.#remedy(slot, known)}`
      this.#report(place, 'missing-slot', `"${who}" needs "${slot}", ${why}`)
    }
    return missing.length > 0 ? given(known, missing) : known
  }

  /** The stages that give a slot; for a slot that none gives, the known one that is nearest. */
  #remedy(slot: string, { maybe }: Known): string {
    const givers = [...this.#stages.values()].filter(({ provides, needs, gives }) =>
      // What a stage only changes must be there before it.
      [...provides, ...(gives ?? [])].some((given) => given === slot && !needs.includes(given)),
    )
    return givers.length === 0 ? didYouMean(slot, maybe) : `; given by ${listed(givers.map(({ name }) => name))}`
  }

  #exists(name: string, place: Place): Pipeline | undefined {
    const found = this.#byName.get(name)
    if (found === undefined && !this.#incomplete)
      this.#report(place, 'unknown-pipeline', `no pipeline named "${name}"${didYouMean(name, this.#byName.keys())}`)
    return found
  }

  #report(place: Place, code: string, message: string, at: 'key' | 'value' = 'value'): void {
    this.diagnostics.push(
      at === 'key' ? place.source.report(place.path, code, message, 'key') : reportAt(place, code, message),
    )
  }
}

function given(known: Known, slots: readonly string[]): Known {
  return { ...known, sure: new Set([...known.sure, ...slots]), maybe: new Set([...known.maybe, ...slots]) }
}

function perhaps(known: Known, slots: readonly string[] = []): Known {
  return slots.length === 0 ? known : { ...known, maybe: new Set([...known.maybe, ...slots]) }
}

/** The slots known where paths join. */
function merge(paths: readonly Known[]): Known {
  const certain = paths.filter((path) => !path.sureOfAll).map((path) => path.sure)
  const sure = certain.reduce((left, right) => left.intersection(right), certain[0] ?? new Set<string>())
  const [ended] = paths.every((path) => path.ended !== undefined) ? paths.map((path) => path.ended) : []
  return {
    sure,
    maybe: new Set(paths.flatMap((path) => [...path.maybe])),
    sureOfAll: certain.length === 0,
    maybeAll: paths.some((path) => path.maybeAll),
    ...(ended === undefined ? {} : { ended }),
  }
}

/** The most names that a finding lists. */
const mostNames = 4

function listed(names: readonly string[]): string {
  const quoted = names.slice(0, mostNames).map((name) => `"${name}"`)
  const more = names.length - quoted.length
  const all = [...quoted, ...(more > 0 ? [`${more} more`] : [])]
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}
