import type { Diagnostic } from '../config/diagnostics.ts'
import { didYouMean } from '../config/suggest.ts'
import { givenBy, reportAt, servedOf } from '../pipeline/nodes.ts'
import type { Pipeline, StageNode, StepNode } from '../pipeline/nodes.ts'

/**
 * Proves for each served pipeline that the slots with which its stages settle will exist: `outcome` outside of an
 * `attempt`, and slots that the pipeline gives. Included pipelines are checked as part of the pipelines that include
 * them, because their context matters. A pipeline with a step that could not be parsed is skipped.
 */
export function checkSettles(pipelines: readonly Pipeline[]): Diagnostic[] {
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  return servedOf(pipelines).flatMap((pipeline) => {
    const walk = new Walk(byName, pipeline.inputs)
    walk.steps(pipeline.stages)
    walk.steps(pipeline.finally)
    return walk.understood ? walk.settling.flatMap((stage) => findings(stage, walk.given, pipeline.name)) : []
  })
}

function findings({ node, tried }: Settling, given: ReadonlySet<string>, pipeline: string): Diagnostic[] {
  const { stage, place } = node
  const problems = (stage.settles ?? []).flatMap((slot) => {
    if (slot === 'outcome')
      return tried ? ['"outcome", which a failed try does not have, so the stage cannot be in an "attempt"'] : []
    return given.has(slot)
      ? []
      : [`"${slot}", which nothing in "${pipeline}" gives, its "finally" included${didYouMean(slot, given)}`]
  })
  return problems.map((problem) => reportAt(place, 'settles', `"${stage.name}" settles with ${problem}`))
}

/** A stage that settles. */
interface Settling {
  readonly node: StageNode
  /** Whether it stands inside an `attempt`. */
  readonly tried: boolean
}

/** Visits every step that a pipeline may run. */
class Walk {
  readonly settling: Settling[] = []
  /** Slots that some path provides by the end of the pipeline. */
  readonly given: Set<string>
  understood = true
  readonly #byName: ReadonlyMap<string, Pipeline>
  readonly #open: Pipeline[] = []

  constructor(byName: ReadonlyMap<string, Pipeline>, inputs: readonly string[]) {
    this.#byName = byName
    this.given = new Set([...inputs, 'ingress'])
  }

  steps(steps: readonly StepNode[], tried = false): void {
    for (const step of steps) this.#step(step, tried)
  }

  #step(node: StepNode, tried: boolean): void {
    switch (node.kind) {
      case 'stage':
        for (const slot of givenBy(node.stage)) this.given.add(slot)
        if (node.stage.settles) this.settling.push({ node, tried })
        return
      case 'switch':
        for (const arm of node.arms) this.steps(arm.steps, tried)
        return
      case 'attempt':
        this.given.add('model')
        this.steps(node.steps, true)
        return this.steps(node.otherwise ?? [], tried)
      case 'use':
        return this.#use(this.#byName.get(node.pipeline), tried)
      case 'unknown':
        this.understood = false
    }
  }

  #use(target: Pipeline | undefined, tried: boolean): void {
    if (target === undefined || this.#open.includes(target)) {
      this.understood = false
      return
    }
    this.#open.push(target)
    this.steps(target.stages, tried)
    this.#open.pop()
  }
}
