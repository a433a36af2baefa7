import type { Host, Ingress } from '../../../engine/index.ts'
import { weightOf } from './record.ts'
import type { WholeResponse } from './record.ts'

const word = 'responses.last'

/** Most bytes of memory of a response on one socket, including its conversation. */
export const socketLimit = 16 * 1024 * 1024

/** Most bytes of the responses on all sockets of the process. */
export const sessionsLimit = 256 * 1024 * 1024

/** Bytes of memory of the responses on all sockets. */
export interface Sessions {
  used: number
}

export function sessionsOf(host: Host): Sessions {
  return host.keep('responses.sessions', () => ({ used: 0 }))
}

/** The most recent response on the client's socket, even with `store: false`. */
export function lastOnSocket(ingress: Ingress | undefined): WholeResponse | undefined {
  return ingress?.session?.get(word) as WholeResponse | undefined
}

/**
 * Makes a response the most recent one on its client's socket. Over HTTP nothing happens. Returns false if there is no
 * room; the socket then remembers no response.
 */
export function rememberOnSocket(ingress: Ingress | undefined, record: WholeResponse, sessions: Sessions): boolean {
  const session = ingress?.session
  if (!session) return true
  session.delete(word)
  const size = weightOf([record.response, record.before, record.input, record.tokens ?? null], socketLimit)
  if (size > socketLimit || sessions.used + size > sessionsLimit) return false
  sessions.used += size
  session.set(word, record, () => (sessions.used -= size))
  return true
}

export function forgetOnSocket(ingress: Ingress | undefined): void {
  ingress?.session?.delete(word)
}
