import { GatewayError } from '../spec/error.ts'
import type { Host } from '../spec/stage.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { asksFirst } from './access.ts'
import { attemptStep } from './attempt.ts'
import { matcher } from './match.ts'
import { printPlace, reportAt } from './nodes.ts'
import type { Pipeline, StageNode, StepNode } from './nodes.ts'
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
      .flatMap((node) => node.pipelines.map(({ name }) => name)),
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
    const asking = asksFirst(nodes, this.#byName) ? nodes.findIndex((node) => asksFirst([node], this.#byName)) : -1
    return {
      name,
      summary,
      file: place.source.file,
      ...(protocol === undefined ? {} : { protocol }),
      public: this.#root.public,
      routes,
      inputs,
      run: sequence(steps),
      access: sequence(steps.slice(0, asking + 1)),
      finally: this.#root.finally.map((node) => this.#step(node)),
      log: this.#host.log,
    }
  }

  #sequence(nodes: readonly StepNode[]): Step {
    return sequence(this.#opened(nodes).map((node) => this.#step(node)))
  }

  /** Includes replaced by what they include. */
  #opened(nodes: readonly StepNode[]): StepNode[] {
    return nodes.flatMap((node) =>
      node.kind === 'use' ? this.#opened(this.#byName.get(node.pipeline)?.stages ?? []) : [node],
    )
  }

  #step(node: StepNode): Step {
    switch (node.kind) {
      case 'stage':
        return this.#stage(node)
      case 'use':
        return this.#sequence([node])
      case 'switch':
        return switchStep(
          node.arms.map(({ when = [], steps }) => ({ matches: matcher(when), run: this.#sequence(steps) })),
        )
      case 'attempt': {
        const { over, tries, on, wait, otherwise } = node
        const gives = stagesOf(node.steps, this.#byName).flatMap(({ stage }) => stage.provides)
        return attemptStep({
          over,
          tries,
          on,
          wait,
          at: printPlace(node.place),
          gives: [...new Set(gives)],
          run: this.#sequence(node.steps),
          ...(otherwise === undefined ? {} : { otherwise: this.#sequence(otherwise) }),
        })
      }
      case 'unknown':
        throw new Error(`${printPlace(node.place)}: a step that was not understood cannot be built`)
    }
  }

  #stage({ stage, config, place }: StageNode): Step {
    try {
      const run = stage.build(config, this.#host) as BuiltStage['run']
      return stageStep({ name: stage.name, at: printPlace(place), provides: stage.provides, run, strict: this.#strict })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      this.#diagnostics.push(reportAt(place, 'build', `"${stage.name}" cannot be built: ${message}`))
      return () => {
        throw new GatewayError('internal_error', {}, { cause: error })
      }
    }
  }
}

/** The stages among some steps and below them; those of includes too when the pipelines are given. */
export function stagesOf(nodes: readonly StepNode[], byName: ReadonlyMap<string, Pipeline> = new Map()): StageNode[] {
  return nodes.flatMap((node): StageNode[] => {
    switch (node.kind) {
      case 'stage':
        return [node]
      case 'switch':
        return node.arms.flatMap(({ steps }) => stagesOf(steps, byName))
      case 'attempt':
        return stagesOf([...node.steps, ...(node.otherwise ?? [])], byName)
      case 'use':
        return stagesOf(byName.get(node.pipeline)?.stages ?? [], byName)
      case 'unknown':
        return []
    }
  })
}
