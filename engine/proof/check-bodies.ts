import type { Diagnostic } from '../config/diagnostics.ts'
import { reportAt, servedOf, within } from '../pipeline/nodes.ts'
import type { Pipeline, StageNode, StepNode } from '../pipeline/nodes.ts'

/**
 * Finds stages that read the body of a request that has none, or that an earlier stage may have read: a body can be
 * read only once. Each served pipeline is checked.
 */
export function checkBodies(pipelines: readonly Pipeline[]): Diagnostic[] {
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  const found = servedOf(pipelines).flatMap((pipeline) => {
    const walk = new Walk(byName)
    walk.steps([...pipeline.stages, ...pipeline.finally], undefined, false)
    return [...noBodies(pipeline, walk.readers[0]), ...walk.diagnostics]
  })
  // A mistake inside an included pipeline is found once per pipeline that includes it.
  return [...new Map(found.map((one) => [`${one.file}:${one.line}:${one.column} ${one.message}`, one])).values()]
}

/** Routes whose requests have no body, in a pipeline with a stage that reads one. */
function noBodies({ place, routes, relays }: Pipeline, reader: StageNode | undefined): Diagnostic[] {
  if (reader === undefined) return []
  return routes.flatMap(({ method }, index) =>
    method === 'GET' || method === 'HEAD' || (method === 'WS' && relays)
      ? [
          reportAt(
            within(place, 'routes', index),
            'no-body',
            `"${reader.stage.name}" reads the body of the request, and a ${method} request has none`,
          ),
        ]
      : [],
  )
}

/** Follows every path of a pipeline. */
class Walk {
  readonly diagnostics: Diagnostic[] = []
  readonly readers: StageNode[] = []
  readonly #byName: ReadonlyMap<string, Pipeline>
  readonly #open: Pipeline[] = []

  constructor(byName: ReadonlyMap<string, Pipeline>) {
    this.#byName = byName
  }

  /**
   * @param before the stage that may have read the body before these steps
   * @returns the stage that may have read it after them
   */
  steps(steps: readonly StepNode[], before: StageNode | undefined, tried: boolean): StageNode | undefined {
    return steps.reduce((reader, step) => this.#step(step, reader, tried) ?? reader, before)
  }

  #step(node: StepNode, before: StageNode | undefined, tried: boolean): StageNode | undefined {
    switch (node.kind) {
      case 'stage':
        return this.#stage(node, before, tried)
      case 'switch':
        return node.arms.map((arm) => this.steps(arm.steps, before, tried)).find((reader) => reader !== undefined)
      case 'attempt':
        return this.steps(node.otherwise ?? [], this.steps(node.steps, before, true), tried)
      case 'use': {
        const target = this.#byName.get(node.pipeline)
        if (target === undefined || this.#open.includes(target)) return before
        this.#open.push(target)
        const reader = this.steps(target.stages, before, tried)
        this.#open.pop()
        return reader
      }
      case 'unknown':
        return before
    }
  }

  #stage(node: StageNode, before: StageNode | undefined, tried: boolean): StageNode | undefined {
    const { stage, place } = node
    if (stage.readsBody !== true && stage.body === undefined) return before
    const why = tried
      ? 'each try of an "attempt" would read it again'
      : before && `"${before.stage.name}" may have read it before`
    if (why !== undefined)
      this.diagnostics.push(reportAt(place, 'body-twice', `"${stage.name}" reads the body of the request, and ${why}`))
    this.readers.push(node)
    return node
  }
}
