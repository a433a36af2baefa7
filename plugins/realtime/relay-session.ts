import { defineStage, noConfig } from '../../engine/index.ts'
import { isObject, scrubbedFailure } from '../../engine/kit.ts'
import type { GatewayError, Host } from '../../engine/index.ts'
import { ClientEvents } from './client-events.ts'
import { Session } from './session.ts'
import { SessionMeter } from './session-meter.ts'

declare module '../../engine/index.ts' {
  interface Slots {
    /** What a session has used. */
    session: SessionMeter
  }
}

/** Connects the client with the provider. What the session uses is charged as soon as the provider reports it. */
export default defineStage({
  name: 'relay-session',
  summary: 'Connect the client of a realtime session with its provider.',
  config: noConfig,
  needs: ['principal', 'request', 'model', 'dialed'],
  provides: ['reply', 'measurement', 'session'],
  settles: [],
  uses: ['limits', 'prices', 'api_keys', 'members'],
  build:
    (_config, host, { limits, prices, ...holders }) =>
    ({ principal, request, model: candidate, dialed }, scope, settle) => {
      const { model, provider } = candidate
      const { catalog } = host
      const meter = new SessionMeter(model, prices)
      const session = new Session({
        upstream: dialed,
        events: new ClientEvents({ catalog, principal, candidate, requested: request.model }),
        meter,
        charge: (tokens, micros) => limits.chargeSoFar({ scope, principal, tokens, micros }, holders),
        print: (error, eventId) => printed(error, eventId, host),
      })
      settle(async () => {
        await session.charged
        if (session.close === undefined) return
        scope.note('turns', meter.turns)
        scope.note('sent_bytes', session.sent)
        scope.note('received_bytes', session.received)
        scope.note('close', { ...session.close })
      })
      return {
        measurement: meter,
        session: meter,
        reply: {
          status: 101,
          headers: { 'x-gateway-model': model.name, 'x-gateway-provider': provider.name },
          body: { kind: 'socket', attach: (client) => session.attach(client) },
        },
      }
    },
})

/** An error as an event; `eventId` is that of the client's event that caused it. */
function printed({ failure }: GatewayError, eventId: string | null, host: Host): string {
  const event = host.codec(host.pipeline.protocol ?? 'realtime').error.print(scrubbedFailure(failure, host.scrub), '')
  if (!isObject(event) || !isObject(event['error'])) return JSON.stringify(event)
  return JSON.stringify({ ...event, error: { ...event['error'], event_id: eventId } })
}
