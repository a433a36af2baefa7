import type { Registry } from '../config/registry.ts'
import { speaksToClients } from '../config/speaking.ts'
import { limitedStep } from '../pipeline/deadline.ts'
import type { Bag } from '../pipeline/bag.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import type { Dispatched, WholeReply } from '../spec/dispatch.ts'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Reply, SlotName } from '../spec/slots.ts'
import type { ByteBudget } from '../spec/source.ts'
import type { Host } from '../spec/host.ts'
import { failed } from '../stream/fold.ts'
import { errorReply, noReply, runExchange } from '../http/exchange.ts'
import { readToEnd } from '../http/read-to-end.ts'
import type { Sent } from '../http/reply.ts'
import { ExchangeScope } from '../http/scope.ts'
import { tooLarge } from '../stream/collect.ts'
import { ampleRoom, answerHold, byteBudgetSpent } from '../stream/byte-budget.ts'
import type { GatewayHost } from './gateway-host.ts'

/** The parts of a configuration that sub-exchanges need. */
interface Serving {
  readonly registry: Registry
  readonly pipelines: ReadonlyMap<string, CompiledPipeline>
}

/** What sub-exchanges need of the gateway. */
export interface Dispatching<S extends Serving> {
  readonly gateway: Pick<GatewayHost, 'byteBudget' | 'log' | 'scrub'>
  /**
   * Keeps a configuration open until the returned function is called. `cut` aborts the sub-exchange when the gateway
   * stops. Default: the configuration is never closed.
   */
  readonly hold?: (serving: S, cut: (reason: GatewayError) => void) => () => void
}

/**
 * The implementation of `host.dispatch` for a configuration.
 * @param current returns that configuration, once it exists
 */
export function dispatcher<S extends Serving>(
  current: () => S | undefined,
  dispatching: Dispatching<S>,
): Host['dispatch'] {
  return async (name, given, parent, options = {}) => {
    const scope = new ExchangeScope(undefined, parent?.id)
    scope.trace = parent?.trace
    try {
      const serving = current()
      const pipeline = serving?.pipelines.get(name)
      if (serving === undefined || pipeline === undefined)
        throw new Error(`no pipeline "${name}" is served, or named by a field with "x-names"`)
      assertHandedOver(pipeline, given)
      const release = dispatching.hold?.(serving, (reason) => scope.abort(reason))
      // Not earlier: the parent would otherwise keep a listener of an exchange that never started.
      if (parent) scope.onEnd(parent.onAbort((reason) => scope.abort(reason)))
      try {
        return await runHeld(serving, withEnd(pipeline, scope, options.deadline), { ...given }, scope, {
          limit: options.limit ?? ampleRoom.limit,
          byteBudget: dispatching.gateway.byteBudget,
        })
      } finally {
        release?.()
      }
    } catch (thrown) {
      // The caller may not await it, and an unhandled rejection would end the process.
      return failedOutside(thrown, scope, given, dispatching)
    }
  }
}

/** Runs a pipeline in a configuration that is held open. */
async function runHeld(
  { registry }: Serving,
  pipeline: CompiledPipeline,
  slots: Bag,
  scope: ExchangeScope,
  room: Room,
): Promise<Dispatched> {
  const protocol = slots.ingress?.protocol ?? pipeline.protocol
  const spoken = protocol === undefined ? undefined : registry.codecs.get(protocol)
  const codec = spoken && speaksToClients(spoken) ? spoken : undefined
  let reply: WholeReply | undefined
  const send = async (made: Reply): Promise<Sent> => {
    const { sent, whole } = await gather(made, slots, scope, room)
    if (made !== noReply) reply = whole
    return sent
  }
  const { outcome } = await runExchange(pipeline, codec, slots, scope, send)
  return { id: scope.id, slots, notes: scope.notes, outcome, ...(reply ? { reply } : {}) }
}

/** The calling stage made a mistake, or the gateway is closed; the log says which. */
function failedOutside(
  thrown: unknown,
  scope: ExchangeScope,
  given: Bag,
  { gateway }: Pick<Dispatching<Serving>, 'gateway'>,
): Dispatched {
  const { id, parent, notes } = scope
  gateway.log.error({ err: thrown, id, parent }, 'a sub-exchange failed outside of its pipeline')
  const error = asGatewayError(thrown)
  const { code, message } = error
  const { status, headers, body } = errorReply(error, { codec: undefined, id, scrub: gateway.scrub })
  const outcome = { status, result: 'failed', error: { code, message }, duration: scope.elapsed(), bytes: 0 } as const
  return {
    id,
    slots: { ...given, outcome },
    notes,
    outcome,
    reply: { status, headers, body: body as WholeReply['body'] },
  }
}

/** The inputs of a pipeline are a contract between two authors, which loading can check only in part. */
function assertHandedOver({ name, routes, inputs }: CompiledPipeline, given: Bag): void {
  const wanted = routes.length > 0 ? ['ingress', ...inputs] : inputs
  const missing = wanted.filter((slot) => given[slot as SlotName] === undefined)
  if (missing.length > 0)
    throw new Error(`the pipeline "${name}" begins with ${missing.join(', ')}, which it did not get`)
}

/**
 * The pipeline with an overall deadline. It does not run if its exchange has already ended. Work that listens for the
 * abort stops at once; a stage that does not is stopped at the next periodic check.
 */
function withEnd(pipeline: CompiledPipeline, scope: ExchangeScope, deadline: number | undefined): CompiledPipeline {
  const { reason } = scope
  if (reason !== undefined) return { ...pipeline, run: () => Promise.reject(reason) }
  if (deadline === undefined) return pipeline
  const late = () => scope.abort(new GatewayError('stage_timeout', { stage: pipeline.name }, { tags: ['timeout'] }))
  const timer = setTimeout(late, deadline)
  scope.onEnd(() => clearTimeout(timer))
  return { ...pipeline, run: limitedStep(pipeline.run, deadline) }
}

/** Limits for a reply that is buffered. */
interface Room {
  readonly limit: number
  readonly byteBudget: ByteBudget
}

/** The reply as a whole. Rejects when its stream fails, reports a failure, or is too large. */
async function gather(
  { status, headers, body }: Reply,
  { measurement }: Bag,
  scope: ExchangeScope,
  { limit, byteBudget }: Room,
): Promise<{ readonly sent: Sent; readonly whole: WholeReply }> {
  if (body.kind === 'socket') throw new Error('a pipeline that answers with a socket cannot be dispatched')
  if (body.kind !== 'stream') {
    const bytes = body.kind === 'bytes' ? body.bytes.length : 0
    return { sent: { bytes, firstByte: undefined, left: false }, whole: { status, headers, body } }
  }
  if (body.lasting) throw new Error('a pipeline whose answer lasts cannot be dispatched')
  const chunks: Uint8Array[] = []
  let size = 0
  const hold = answerHold({ byteBudget }, scope)
  const sent = await readToEnd(body.source, scope, (chunk) => {
    size += chunk.length
    if (size > limit) throw tooLarge(limit)
    if (!hold.take(chunk.length)) throw byteBudgetSpent()
    chunks.push(chunk)
  })
  // A client would find the failure inside the stream; here it replaces the whole reply.
  const failure = measurement?.read().failure
  if (failure) throw failed({ type: 'failure', failure })
  return { sent, whole: { status, headers, body: { kind: 'bytes', bytes: Buffer.concat(chunks), type: body.type } } }
}
