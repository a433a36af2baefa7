import type { Host, Ingress } from '../../../engine/index.ts'
import { weightOf } from './record.ts'
import type { WholeResponse } from './record.ts'

const word = 'responses.last'

/** Most bytes of memory that a response may take up on one socket, its conversation included. */
export const socketLimit = 16 * 1024 * 1024

/** Most that those on all sockets of the process may. */
export const sessionsLimit = 256 * 1024 * 1024

/** What the responses on all sockets take up, in bytes. */
export interface Sessions {
  used: number
}

export function sessionsOf(host: Host): Sessions {
  return host.keep('responses.sessions', () => ({ used: 0 }))
}

/** The most recent response on the client's socket, whether it was to be stored or not. */
export function lastOnSocket(ingress: Ingress | undefined): WholeResponse | undefined {
  return ingress?.session?.get(word) as WholeResponse | undefined
}

/**
 * Makes a response the most recent one on its client's socket; over HTTP nothing is kept. False: there is no room for
 * it, and the socket remembers none.
 */
export function keepOnSocket(ingress: Ingress | undefined, record: WholeResponse, sessions: Sessions): boolean {
  const session = ingress?.session
  if (!session) return true
  session.delete(word)
  const size = weightOf([record.response, record.before, record.input], socketLimit)
  if (size > socketLimit || sessions.used + size > sessionsLimit) return false
  sessions.used += size
  session.set(word, record, () => (sessions.used -= size))
  return true
}

export function forgetOnSocket(ingress: Ingress | undefined): void {
  ingress?.session?.delete(word)
}
