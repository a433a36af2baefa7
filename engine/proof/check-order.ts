import type { Diagnostic } from '../config/diagnostics.ts'
import { pipelinesIn, reportAt, servedOf } from '../pipeline/nodes.ts'
import type { Pipeline, Place, StepNode } from '../pipeline/nodes.ts'

/**
 * Warns of stages behind one that they must not follow (`notAfter`), on some path of a served pipeline, and of pipelines
 * that nothing runs.
 */
export function checkOrder(pipelines: readonly Pipeline[], named: readonly string[]): Diagnostic[] {
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  const behind = servedOf(pipelines).flatMap((pipeline) => {
    const walk = new Walk(byName)
    walk.steps(pipeline.stages, new Set())
    return walk.diagnostics
  })
  const run = new Set([...named, ...pipelines.flatMap((one) => pipelinesIn([...one.stages, ...one.finally]))])
  // The product's own may have lost what runs them to a file that replaces it.
  const idle = pipelines.filter(({ name, routes, shipped }) => routes.length === 0 && !run.has(name) && !shipped)
  const unused = idle.map(({ name, place }) =>
    reportAt(place, 'unused', `nothing runs "${name}": it has no routes, and no pipeline uses it`),
  )
  return [...behind, ...unused].map((finding) => ({ ...finding, warning: true }))
}

/** Follows every path of a pipeline. */
class Walk {
  readonly diagnostics: Diagnostic[] = []
  readonly #byName: ReadonlyMap<string, Pipeline>
  readonly #open: Pipeline[] = []
  /** The `use` step of the served pipeline, while it walks an include: what stands there alone may be right. */
  #around: Place | undefined

  constructor(byName: ReadonlyMap<string, Pipeline>) {
    this.#byName = byName
  }

  /**
   * @param before names of the stages that may have run before these steps
   * @returns those that may have run after them
   */
  steps(steps: readonly StepNode[], before: ReadonlySet<string>): ReadonlySet<string> {
    return steps.reduce((known, step) => this.#step(step, known), before)
  }

  #step(node: StepNode, before: ReadonlySet<string>): ReadonlySet<string> {
    switch (node.kind) {
      case 'stage': {
        const { name, notAfter = [] } = node.stage
        const earlier = notAfter.find((other) => before.has(other))
        if (earlier !== undefined) {
          const why = earlier === name ? 'stands there already' : `must stand before "${earlier}"`
          this.diagnostics.push(reportAt(this.#around ?? node.place, 'order', `"${name}" ${why}`))
        }
        return new Set([...before, name])
      }
      case 'switch':
        return node.arms.reduce((all, arm) => all.union(this.steps(arm.steps, before)), before)
      case 'attempt':
        return this.steps(node.otherwise ?? [], this.steps(node.steps, before))
      case 'use': {
        const target = this.#byName.get(node.pipeline)
        if (target === undefined || this.#open.includes(target)) return before
        const outer = this.#around
        this.#around ??= node.place
        this.#open.push(target)
        const after = this.steps(target.stages, before)
        this.#open.pop()
        this.#around = outer
        return after
      }
      case 'unknown':
        return before
    }
  }
}
