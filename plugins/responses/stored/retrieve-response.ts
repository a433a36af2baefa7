import { GatewayError, defineStage, noConfig } from '../../../engine/index.ts'
import { encodeFrame, pull } from '../../../engine/kit.ts'
import type { Ingress, JsonObject, Reply } from '../../../engine/index.ts'
import { done } from '../keeper.ts'
import { askedFor, wholeNumber } from './asked.ts'
import { replay } from './replay.ts'

/** Answers with the stored response named by `:response_id`: whole, or as events with `stream=true`. */
export default defineStage({
  name: 'retrieve-response',
  summary: 'Show a stored response, whole or as a stream.',
  config: noConfig,
  needs: ['ingress', 'principal'],
  provides: ['reply'],
  build:
    (_, host) =>
    async ({ ingress, principal }) => {
      const streams = wantsStream(ingress)
      const after = wholeNumber(ingress, 'starting_after', 0, Infinity)
      const { record } = await askedFor(ingress, principal, host)
      return { reply: streams ? streamed(record.response, after) : whole(record.response) }
    },
})

/** The `accept` header does not tell: official clients accept JSON even when they read events. */
function wantsStream({ query }: Ingress): boolean {
  return query.get('stream')?.toLowerCase() === 'true'
}

function whole(response: JsonObject): Reply {
  return { status: 200, headers: {}, body: { kind: 'json', value: response } }
}

function streamed(response: JsonObject, after = -1): Reply {
  const { status } = response
  if (status === 'in_progress' || status === 'queued')
    throw new GatewayError('invalid_request', { reason: 'The response has not ended; ask for it without "stream".' })
  async function* frames(): AsyncGenerator<Uint8Array> {
    for (const event of replay(response))
      if (event.sequence_number > after)
        yield Buffer.from(encodeFrame({ event: event.type, data: JSON.stringify(event) }))
    yield Buffer.from(encodeFrame(done))
  }
  const type = 'text/event-stream; charset=utf-8'
  return { status: 200, headers: {}, body: { kind: 'stream', source: pull(frames()), type } }
}
