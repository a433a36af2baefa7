import { defineStage, noConfig } from '../../../engine/index.ts'
import { encodeFrame, pull } from '../../../engine/kit.ts'
import type { Asked, Candidate, Envelope, JsonObject, Reply, Scope, Usage } from '../../../engine/index.ts'
import { done } from '../keeper.ts'
import { responseObject } from '../response.ts'
import { printUsage } from '../usage.ts'

/**
 * Answers a request with `generate: false` on a WebSocket with an empty response that the next request can continue. No
 * provider is called, and it costs nothing.
 */
export default defineStage({
  name: 'prepare-response',
  summary: 'Answer with an empty response that the next request can continue, without calling a provider.',
  config: noConfig,
  needs: ['request', 'candidates'],
  provides: ['reply', 'measurement'],
  build:
    () =>
    ({ request, candidates }, scope) => {
      // No provider is called that might know the conversation.
      if (request.missing) throw request.missing
      scope.note('prepared', true)
      return { reply: replyOf(askedOf(request, candidates, scope)), measurement: { read: () => metered } }
    },
})

const nothing: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }
const metered = { usage: nothing, complete: true, losses: [] }

function askedOf({ sent, model }: Envelope, [first]: readonly Candidate[], { id }: Scope): Asked {
  return { id, model: first?.model.name ?? model, stream: true, body: sent, origin: '' }
}

function replyOf(asked: Asked): Reply {
  const begun = responseObject(asked, { status: 'in_progress', output: [] })
  const ready = responseObject(asked, { status: 'completed', output: [], usage: printUsage(nothing) })
  const events: readonly (readonly [string, JsonObject])[] = [
    ['response.created', begun],
    ['response.in_progress', begun],
    ['response.completed', ready],
  ]
  const frames = events.map(([type, response], sequence_number) => ({
    event: type,
    data: JSON.stringify({ type, sequence_number, response }),
  }))
  const source = pull(
    (async function* () {
      yield Buffer.from([...frames, done].map(encodeFrame).join(''))
    })(),
  )
  return { status: 200, headers: {}, body: { kind: 'stream', source, type: 'text/event-stream; charset=utf-8' } }
}
