import type { Dialed, Leg } from '../spec/leg.ts'
import type { ReplyBody } from '../spec/slots.ts'
import { GatewayError } from '../spec/error.ts'

type Look = (bytes: Buffer, binary: boolean) => Uint8Array | undefined

/** What passes between two sides: a message as it is to go on, or undefined where it is not to. */
export interface Passing {
  readonly up?: Look
  readonly down?: Look
}

/**
 * Joins a client with an upstream: messages go through as they are, a side that reads slowly pauses the other, and each
 * closes as the other does. One that vanishes closes the other: the upstream with 1001, the client with 1011. What a look
 * throws closes both.
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
          const broken = code === 1006 ? new GatewayError('upstream_error', { reason: 'its socket broke.' }) : undefined
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
