import { GatewayError } from '../spec/error.ts'
import { Refusal } from '../spec/refusal.ts'
import type { Host } from '../spec/stage.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { asksFirst } from './access.ts'
import { attemptStep } from './attempt.ts'
import { limitedStep } from './deadline.ts'
import { matcher } from './match.ts'
import { pipelinesOf, printPlace, reportAt, stagesOf, within } from './nodes.ts'
import type { Pipeline, StageNode, StepNode, UseNode } from './nodes.ts'
import { sequence, stageStep } from './run.ts'
import type { BuiltStage, CompiledPipeline, Step } from './run.ts'
import { switchStep } from './switch.ts'

/** What pipelines are built with. */
export interface Workshop {
  hostFor(pipeline: Host['pipeline']): Host
  /** Refuse stages that give anything but what they provide; for tests. */
  readonly strict: boolean
}

/**
 * Builds every pipeline that is served or named by a stage's configuration; includes are built into each of them, so
 * that a stage knows whose clients it works for. The pipelines must have passed `checkFlow`. A stage that cannot be
 * built is a diagnostic.
 */
export function compilePipelines(
  pipelines: readonly Pipeline[],
  workshop: Workshop,
): { compiled: Map<string, CompiledPipeline>; diagnostics: Diagnostic[] } {
  const named = new Set(
    pipelines
      .flatMap((pipeline) => stagesOf([...pipeline.stages, ...pipeline.finally]))
      .flatMap(pipelinesOf)
      .map(({ name }) => name),
  )
  const roots = pipelines.filter(({ name, routes }) => routes.length > 0 || named.has(name))
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  const diagnostics: Diagnostic[] = []
  const compiled = new Map(roots.map((root) => [root.name, new Builder(root, byName, workshop, diagnostics).build()]))
  return { compiled, diagnostics }
}

class Builder {
  readonly #root: Pipeline
  readonly #byName: ReadonlyMap<string, Pipeline>
  readonly #host: Host
  readonly #strict: boolean
  readonly #diagnostics: Diagnostic[]

  constructor(root: Pipeline, byName: ReadonlyMap<string, Pipeline>, workshop: Workshop, diagnostics: Diagnostic[]) {
    const { name, protocol } = root
    this.#root = root
    this.#byName = byName
    this.#host = workshop.hostFor({ name, ...(protocol === undefined ? {} : { protocol }) })
    this.#strict = workshop.strict
    this.#diagnostics = diagnostics
  }

  build(): CompiledPipeline {
    const { name, summary, protocol, routes, inputs, place } = this.#root
    const nodes = this.#opened(this.#root.stages)
    const steps = nodes.map((node) => this.#step(node))
    return {
      name,
      summary,
      file: place.source.file,
      ...(protocol === undefined ? {} : { protocol }),
      public: this.#root.public,
      routes,
      inputs,
      run: sequence(steps),
      access: this.#access(nodes, steps),
      finally: this.#root.finally.map((node) => this.#step(node)),
      log: this.#host.log,
      scrub: this.#host.scrub,
    }
  }

  #sequence(nodes: readonly StepNode[]): Step {
    return sequence(this.#opened(nodes).map((node) => this.#step(node)))
  }

  /** Of steps and what they were built from, those up to the one that finds out who asks. */
  #access(nodes: readonly StepNode[], steps: readonly Step[]): Step {
    const asking = asksFirst(nodes, this.#byName) ? nodes.findIndex((node) => asksFirst([node], this.#byName)) : -1
    const last = nodes[asking]
    if (last?.kind !== 'use') return sequence(steps.slice(0, asking + 1))
    // What it includes may do more than ask.
    const inner = this.#included(last)
    return limited(
      this.#access(
        inner,
        inner.map((node) => this.#step(node)),
      ),
      last.timeout,
    )
  }

  #included({ pipeline }: UseNode): StepNode[] {
    return this.#opened(this.#byName.get(pipeline)?.stages ?? [])
  }

  /** Includes replaced by what they include, but for those that are limited as a whole. */
  #opened(nodes: readonly StepNode[]): StepNode[] {
    return nodes.flatMap((node) => (node.kind === 'use' && node.timeout === undefined ? this.#included(node) : [node]))
  }

  #step(node: StepNode): Step {
    switch (node.kind) {
      case 'stage':
        return this.#stage(node)
      case 'use':
        return limited(this.#sequence(this.#included(node)), node.timeout)
      case 'switch': {
        const arms = node.arms.map(({ when = [], steps }) => ({ matches: matcher(when), run: this.#sequence(steps) }))
        return limited(switchStep(arms), node.timeout)
      }
      case 'attempt': {
        const { over, tries, on, wait, otherwise } = node
        const gives = stagesOf(node.steps, this.#byName).flatMap(({ stage: { provides, gives: sometimes = [] } }) => [
          ...provides,
          ...sometimes,
        ])
        const attempt = attemptStep({
          over,
          tries,
          on,
          wait,
          at: printPlace(node.place),
          gives: [...new Set(gives)],
          run: this.#sequence(node.steps),
          ...(otherwise === undefined ? {} : { otherwise: this.#sequence(otherwise) }),
        })
        return limited(attempt, node.timeout)
      }
      case 'unknown':
        throw new Error(`${printPlace(node.place)}: a step that was not understood cannot be built`)
    }
  }

  #stage({ stage, config, place, timeout }: StageNode): Step {
    try {
      const run = stage.build(config, this.#host) as BuiltStage['run']
      const { name, provides, gives = [] } = stage
      return stageStep({ name, at: printPlace(place), provides, gives, run, timeout, strict: this.#strict })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const inner = error instanceof Refusal ? [stage.name, ...error.path] : []
      this.#diagnostics.push(reportAt(within(place, ...inner), 'build', `"${stage.name}" cannot be built: ${message}`))
      return () => {
        throw new GatewayError('internal_error', {}, { cause: error })
      }
    }
  }
}

function limited(step: Step, timeout: number | undefined): Step {
  return timeout === undefined ? step : limitedStep(step, timeout)
}
