import { speaksToClients } from '../config/speaking.ts'
import { limitedStep } from '../pipeline/deadline.ts'
import type { Bag, CompiledPipeline } from '../pipeline/run.ts'
import type { DispatchOptions, WholeReply } from '../spec/dispatch.ts'
import { GatewayError } from '../spec/error.ts'
import type { Reply, SlotName } from '../spec/slots.ts'
import type { ByteBudget } from '../spec/source.ts'
import type { Host } from '../spec/stage.ts'
import { failed } from '../generate/fold.ts'
import { noReply, runExchange } from '../http/exchange.ts'
import { readToEnd } from '../http/read-to-end.ts'
import type { Sent } from '../http/reply.ts'
import { ExchangeScope } from '../http/scope.ts'
import { tooLarge } from '../stream/collect.ts'
import { ampleRoom, answerHold, tooMuchInHand } from '../stream/in-hand.ts'
import type { Snapshot, SnapshotOptions } from './snapshot.ts'

/** What sub-exchanges take of the house. */
export type Dispatching = Pick<SnapshotOptions, 'hold'> & { readonly house: Pick<SnapshotOptions['house'], 'inHand'> }

/**
 * What `host.dispatch` does in a configuration.
 * @param current gives that configuration, once it is there
 */
export function dispatcher(current: () => Snapshot | undefined, { house, hold }: Dispatching): Host['dispatch'] {
  return async (name, given, parent, { deadline, limit = ampleRoom.limit } = {}) => {
    const snapshot = current()
    const pipeline = snapshot?.pipelines.get(name)
    if (snapshot === undefined || pipeline === undefined)
      throw new Error(`no pipeline "${name}" is served, or named by a field with "x-names"`)
    assertHandedOver(pipeline, given)
    const scope = new ExchangeScope(undefined, parent.id)
    scope.trace = parent.trace
    const release = hold?.(snapshot, (reason) => scope.abort(reason))
    try {
      const slots: Bag = { ...given }
      const protocol = slots.ingress?.protocol ?? pipeline.protocol
      const spoken = protocol === undefined ? undefined : snapshot.registry.codecs.get(protocol)
      const codec = spoken && speaksToClients(spoken) ? spoken : undefined
      let reply: WholeReply | undefined
      const send = async (made: Reply): Promise<Sent> => {
        const { sent, whole } = await gather(made, slots, { scope, limit, inHand: house.inHand })
        if (made !== noReply) reply = whole
        return sent
      }
      endWith(parent, scope)
      const limited = deadline === undefined ? pipeline : withDeadline(pipeline, scope, deadline)
      const { outcome } = await runExchange(limited, codec, slots, scope, send)
      return { id: scope.id, slots, outcome, ...(reply ? { reply } : {}) }
    } finally {
      release?.()
    }
  }
}

/** What a pipeline begins with is a contract between two authors, which the check at load holds them to as far as it can. */
function assertHandedOver({ name, routes, inputs }: CompiledPipeline, given: Bag): void {
  const wanted = routes.length > 0 ? ['ingress', ...inputs] : inputs
  const missing = wanted.filter((slot) => given[slot as SlotName] === undefined)
  if (missing.length > 0)
    throw new Error(`the pipeline "${name}" begins with ${missing.join(', ')}, which it did not get`)
}

/** What ends the parent ends the sub-exchange, as long as it has not come to its `finally`. */
function endWith(parent: Parameters<Host['dispatch']>[2], scope: ExchangeScope): void {
  scope.onEnd(parent.onAbort((reason) => scope.abort(reason)))
}

/**
 * The pipeline with a time for all of it. What heeds the end of its exchange hears of it at once; a stage that does not
 * is found out with the next look at everything that waits.
 */
function withDeadline(
  pipeline: CompiledPipeline,
  scope: ExchangeScope,
  deadline: DispatchOptions['deadline'] & number,
) {
  const late = () => scope.abort(new GatewayError('stage_timeout', { stage: pipeline.name }, { tags: ['timeout'] }))
  const timer = setTimeout(late, deadline)
  scope.onEnd(() => clearTimeout(timer))
  return { ...pipeline, run: limitedStep(pipeline.run, deadline) }
}

interface Gathering {
  readonly scope: ExchangeScope
  readonly limit: number
  readonly inHand: ByteBudget
}

/** The reply as a whole. Rejects for a stream that breaks, that tells of a failure, or that is too large. */
async function gather(
  { status, headers, body }: Reply,
  { meter }: Bag,
  { scope, limit, inHand }: Gathering,
): Promise<{ readonly sent: Sent; readonly whole: WholeReply }> {
  if (body.kind !== 'stream') {
    const bytes = body.kind === 'bytes' ? body.bytes.length : 0
    return { sent: { bytes, firstByte: undefined, left: false }, whole: { status, headers, body } }
  }
  const chunks: Uint8Array[] = []
  let size = 0
  const hold = answerHold({ inHand }, scope)
  const sent = await readToEnd(body.source, scope, (chunk) => {
    size += chunk.length
    if (size > limit) throw tooLarge(limit)
    if (!hold.take(chunk.length)) throw tooMuchInHand()
    chunks.push(chunk)
  })
  // To a client it had to be told within the stream; who reads the whole can be told in its place.
  const failure = meter?.read().failure
  if (failure) throw failed({ type: 'failure', failure })
  return { sent, whole: { status, headers, body: { kind: 'bytes', bytes: Buffer.concat(chunks), type: body.type } } }
}
