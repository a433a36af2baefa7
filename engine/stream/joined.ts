import type { Dialed, Leg } from '../spec/leg.ts'
import type { ReplyBody } from '../spec/slots.ts'
import { GatewayError } from '../spec/error.ts'

type Look = (bytes: Buffer, binary: boolean) => Uint8Array | undefined

/** Inspects the messages of each direction. Returns the message to relay, or undefined to drop it. */
export interface Passing {
  readonly up?: Look
  readonly down?: Look
}

/**
 * Relays messages between a client and an upstream. A side that reads slowly pauses the other, and each side closes
 * with the code of the other. If a side disconnects without a close frame, the other is closed: the upstream with
 * 1001, the client with 1011. An error thrown by `up` or `down` closes both.
 */
export function joined(upstream: Dialed, { up, down }: Passing = {}): Extract<ReplyBody, { kind: 'socket' }> {
  return {
    kind: 'socket',
    attach(client) {
      const { promise: over, resolve: end } = Promise.withResolvers<void>()
      const server: Leg = upstream.attach({
        message: (bytes, binary) => pass(down, bytes, binary, client, server),
        drained: () => client.resume(),
        closed(code, reason, error) {
          end()
          const broken =
            code === 1006
              ? new GatewayError('upstream_error', { reason: 'its socket closed unexpectedly.' })
              : undefined
          client.close(code, reason, error ?? broken)
        },
      })
      return {
        message: (bytes, binary) => pass(up, bytes, binary, server, client),
        drained: () => server.resume(),
        closed(code, reason) {
          server.close(code === 1006 ? 1001 : code, reason)
          return over
        },
      }
    },
  }
}

function pass(look: Look | undefined, bytes: Buffer, binary: boolean, to: Leg, from: Leg): void {
  const passed = look ? look(bytes, binary) : bytes
  if (passed && !to.send(passed, binary)) from.pause()
}
