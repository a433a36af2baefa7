import { GatewayError, Refusal } from '../spec/error.ts'
import type { JsonObject } from '../spec/json.ts'
import type { AnyAction } from '../spec/action.ts'
import { duration } from '../spec/duration.ts'
import type { Ingress, SlotName } from '../spec/slots.ts'
import type { AnyStage } from '../spec/stage.ts'
import type { Host } from '../spec/host.ts'
import type { Diagnostic } from '../config/diagnostics.ts'
import { inputReader } from '../actions/input.ts'
import { attempts, stages } from '../telling/channels.ts'
import { actStage } from '../actions/act.ts'
import { actionAt } from './action-routes.ts'
import { asksFirst } from './access.ts'
import { Attempt, triesOf } from './attempt.ts'
import type { Bag } from './bag.ts'
import type { Built, BuiltAttempt, BuiltStep } from './built.ts'
import { NotOpen } from '../services/closed-view.ts'
import { interpreted } from './interpret.ts'
import type { Owner } from './interpret.ts'
import { matcher } from './match.ts'
import { givenBy, pathsOf, shownPlace, reportAt, servedOf, stagesOf, within } from './nodes.ts'
import type { ActNode, Pipeline, StageNode, StepNode, UseNode } from './nodes.ts'
import { withSettings } from './options.ts'
import { stageTimeout } from './parse.ts'
import { RetryBudget } from './retry-budget.ts'
import { programOf, runProgram } from './program.ts'
import { ReadyStage } from './run.ts'
import type { CompiledPipeline } from './run.ts'
import type { StageRun, Step } from './step.ts'
import { settling } from './settle.ts'
import type { Unreached } from './unreached.ts'

/** What the compiler needs besides the pipelines. */
export interface Workshop {
  hostFor(pipeline: Host['pipeline']): Host
  /** The views of services, by service name. */
  viewsOf(names: readonly string[] | undefined): Readonly<Record<string, unknown>>
  /** `server_config`, for options that pipelines do not write. */
  readonly settings: JsonObject
  /** Fails stages that give other slots than they declare; for tests. */
  readonly strict: boolean
  /** Version of the configuration. */
  readonly version?: string
}

/**
 * Compiles every pipeline that is served or that the configuration of a stage names. Includes are compiled into each
 * including pipeline, so that a stage knows whose clients it serves. The pipelines must have passed `checkFlow`. A
 * stage that cannot be built becomes a diagnostic.
 */
export function compilePipelines(
  pipelines: readonly Pipeline[],
  workshop: Workshop,
): { compiled: Map<string, CompiledPipeline>; diagnostics: Diagnostic[] } {
  const byName = new Map(pipelines.map((pipeline) => [pipeline.name, pipeline]))
  const diagnostics: Diagnostic[] = []
  const compiled = new Map(
    servedOf(pipelines).map((root) => [root.name, new Builder(root, byName, workshop, diagnostics).build()]),
  )
  return { compiled, diagnostics }
}

/** What surrounds neighbouring steps. */
interface Around {
  /** The path of the step around them (`StagePlace.path`); absent: they are those of the pipeline itself. */
  readonly path?: string
  readonly inTry?: boolean
  readonly inFinally?: boolean
}

interface PlacedNode extends Around {
  readonly node: StepNode
  readonly path: string
}

class Builder {
  readonly #root: Pipeline
  readonly #byName: ReadonlyMap<string, Pipeline>
  readonly #host: Host
  readonly #owner: Owner
  readonly #actionAt: ReturnType<typeof actionAt>
  readonly #workshop: Workshop
  readonly #diagnostics: Diagnostic[]
  /** The slots given by the stages of its `finally`. */
  readonly #after: ReadonlySet<SlotName>
  /** By path: the steps of an include that authenticates are compiled twice. */
  readonly #unreached = new Map<string, Unreached>()

  constructor(root: Pipeline, byName: ReadonlyMap<string, Pipeline>, workshop: Workshop, diagnostics: Diagnostic[]) {
    const { name, protocol } = root
    this.#root = root
    this.#byName = byName
    this.#actionAt = actionAt(root.routes)
    this.#host = workshop.hostFor({
      name,
      ...(protocol === undefined ? {} : { protocol }),
      ...(this.#actionAt && { actionAt: this.#actionAt }),
    })
    this.#owner = { pipeline: name, log: this.#host.log }
    this.#workshop = workshop
    this.#diagnostics = diagnostics
    this.#after = new Set(stagesOf(root.finally, byName).flatMap(({ stage }) => givenBy(stage)))
  }

  build(): CompiledPipeline {
    const { name, summary, protocol, routes, inputs, place } = this.#root
    const nodes = this.#opened(this.#root.stages, {})
    const steps = nodes.map((node) => this.#step(node))
    const after = this.#opened(this.#root.finally, { path: 'finally', inFinally: true })
    return {
      name,
      summary,
      file: place.source.file,
      ...(this.#workshop.version === undefined ? {} : { version: this.#workshop.version }),
      ...(protocol === undefined ? {} : { protocol }),
      relays: this.#root.relays,
      public: this.#root.public,
      routes,
      inputs,
      run: this.#ready({ kind: 'steps', steps }, false),
      access: interpreted(this.#access(nodes, steps), this.#owner, false),
      finally: [this.#ready({ kind: 'steps', steps: after.map((node) => this.#step(node)) }, true)],
      unreached: [...this.#unreached.values()],
      log: this.#host.log,
      scrub: this.#host.scrub,
    }
  }

  /** Steps that tell listeners, if there are any when the steps begin. */
  #ready(built: Built, each: boolean): Step {
    const program = programOf(built, this.#owner.log, each)
    const plain = interpreted(built, this.#owner, each)
    return (slots, scope) => (stages.heard || attempts.heard ? plain(slots, scope) : runProgram(program, slots, scope))
  }

  #steps(nodes: readonly StepNode[], around: Around): Built {
    return this.#inOrder(this.#opened(nodes, around))
  }

  #inOrder(nodes: readonly PlacedNode[]): Built {
    return { kind: 'steps', steps: nodes.map((node) => this.#step(node)) }
  }

  /** Compiles the leading steps, up to the one that authenticates the client. */
  #access(nodes: readonly PlacedNode[], steps: readonly Built[]): Built {
    const leading = nodes.map(({ node }) => node)
    const asking = asksFirst(leading, this.#byName) ? leading.findIndex((node) => asksFirst([node], this.#byName)) : -1
    const last = nodes[asking]
    if (last?.node.kind !== 'use') return { kind: 'steps', steps: steps.slice(0, asking + 1) }
    // The included pipeline may do more than authenticate.
    const inner = this.#included(last.node, last)
    return limited(
      this.#access(
        inner,
        inner.map((node) => this.#step(node)),
      ),
      last.node.timeout,
    )
  }

  #included({ pipeline }: UseNode, around: Around): PlacedNode[] {
    return this.#opened(this.#byName.get(pipeline)?.stages ?? [], around)
  }

  /** Replaces includes by their steps, except includes with a timeout of their own. */
  #opened(nodes: readonly StepNode[], around: Around): PlacedNode[] {
    const paths = pathsOf(nodes, around.path)
    return nodes.flatMap((node, index) => {
      const placed = { ...around, node, path: paths[index] as string }
      return node.kind === 'use' && node.timeout === undefined ? this.#included(node, placed) : [placed]
    })
  }

  #step(placed: PlacedNode): Built {
    const { node, path } = placed
    switch (node.kind) {
      case 'stage':
        return 'action' in node ? this.#act(node, placed) : this.#stage(node, placed)
      case 'use':
        return limited(this.#inOrder(this.#included(node, placed)), node.timeout)
      case 'switch': {
        const arms = node.arms.map(({ when = [], steps }, index) => ({
          matches: matcher(when),
          run: this.#steps(steps, { ...placed, path: `${path}/${index + 1}` }),
        }))
        return limited({ kind: 'switch', arms }, node.timeout)
      }
      case 'attempt': {
        const { over, options, settings, otherwise } = node
        const stages = stagesOf(node.steps, this.#byName).map(({ stage }) => stage)
        const attempt: BuiltAttempt = {
          kind: 'attempt',
          attempt: new Attempt({
            over,
            ...triesOf(withSettings(options, settings, this.#workshop.settings)),
            at: shownPlace(node.place),
            retries: this.#host.keep('retries', () => new RetryBudget()),
            gives: [...new Set(stages.flatMap(givenBy))],
          }),
          // A try ends with the first stage that fails, also inside `finally`.
          run: this.#steps(node.steps, { path, inTry: true }),
          settles: stages.some(({ settles }) => settles),
          ...(otherwise && { otherwise: this.#steps(otherwise, { ...placed, path: `${path}/otherwise` }) }),
        }
        return limited(attempt, node.timeout)
      }
      case 'unknown':
        throw new Error(`${shownPlace(node.place)}: a step that was not understood cannot be built`)
    }
  }

  /** Actions are built when the first request for them comes: most are never asked for. */
  #act(node: ActNode, placed: PlacedNode): Built {
    const steps = new Map<AnyAction, BuiltStep>()
    const built = (action: AnyAction) => {
      const timeout = node.timeout || duration(action.timeout ?? stageTimeout)
      const step = this.#stage({ ...node, stage: actStage([action]), timeout }, placed)
      steps.set(action, step)
      return step
    }
    const find = ({ ingress }: Bag) => {
      const action = node.action ?? this.#actionAt?.(ingress as Ingress)
      if (action === undefined) throw new GatewayError('internal_error')
      return steps.get(action) ?? built(action)
    }
    return { kind: 'found', find }
  }

  #stage(node: StageNode, { path, inTry = false, inFinally }: PlacedNode): BuiltStep {
    const { stage, settings, place, timeout } = node
    const { name, needs, provides, gives = [] } = stage
    const config = withSettings(node.config, settings, this.#workshop.settings)
    const at = shownPlace(place)
    const own = { name, path, inTry }
    const ready = (run: StageRun): BuiltStep => ({
      kind: 'stage',
      stage: new ReadyStage({ place: own, at, provides, gives, run, timeout, strict: this.#workshop.strict }),
      place: own,
      at,
      needs: inFinally ? needs.filter((slot) => this.#after.has(slot)) : [],
    })
    try {
      const views = this.#workshop.viewsOf(stage.uses)
      const built = stage.build(config, this.#host, views) as StageRun
      const missed = inTry || inFinally ? undefined : stage.unreached?.(config, this.#host, views)
      if (missed) this.#unreached.set(path, { place: own, at: `${at} (${name})`, run: missed })
      return ready(this.#settling(stage, this.#reading(stage, built, config), at))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const inner = error instanceof Refusal ? [name, ...error.path] : []
      if (!(error instanceof NotOpen && error.told))
        this.#diagnostics.push(reportAt(within(place, ...inner), 'build', `"${name}" cannot be built: ${message}`))
      return ready(() => {
        throw new GatewayError('internal_error', {}, { cause: error })
      })
    }
  }

  /** A stage with a body schema runs after the body was read. */
  #reading({ body, bodyLimit }: AnyStage, run: StageRun, config: JsonObject): StageRun {
    if (body === undefined) return run
    const reader = inputReader(typeof body === 'function' ? body(config, this.#host) : body, bodyLimit)
    this.#host.warm?.(() => reader.prepare())
    return (slots, scope, settle) =>
      reader
        .read(slots.ingress as Ingress, slots.principal !== undefined)
        .then((input) => run({ ...slots, input } as Bag, scope, settle))
  }

  #settling({ name, settles }: AnyStage, run: StageRun, at: string): StageRun {
    if (settles === undefined) return run
    const { log, scrub } = this.#host
    const afterFinally = settles.some((slot) => this.#after.has(slot))
    return settling(run, { name, at: `${at} (${name})`, afterFinally, log, scrub })
  }
}

function limited(step: Built, limit: number | undefined): Built {
  return limit === undefined ? step : { kind: 'limited', step, limit }
}
