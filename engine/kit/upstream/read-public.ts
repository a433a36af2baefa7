import { GatewayError } from '../../spec/error.ts'
import type { Host } from '../../spec/host.ts'
import type { Scope } from '../../spec/scope.ts'
import { answerHold } from '../../stream/byte-budget.ts'
import { collect } from '../../stream/collect.ts'
import { openHttp } from './http.ts'
import { reachToHost } from '../../config/reach.ts'

/** What is read from an address, and how. */
export interface PublicReading {
  /** Where the address stands, such as `catalog.source`. */
  readonly param: string
  /** What it is, in the words of errors. */
  readonly what: string
  /** Maximum bytes. */
  readonly limit: number
  /** Maximum milliseconds. */
  readonly deadline: number
}

/**
 * Reads what an operator or an admin has named by its address: over https, from public addresses only, without
 * credentials. Redirects are not followed. Rejects with a `GatewayError`.
 */
export async function readPublic(
  text: string,
  { param, what, limit, deadline }: PublicReading,
  host: Host,
  scope: Pick<Scope, 'onAbort'>,
): Promise<Buffer> {
  const url = URL.parse(text)
  const refuse = (reason: string) => new GatewayError('invalid_field', { param, reason }, { param })
  if (url?.protocol !== 'https:') throw refuse('must be an address that starts with https://')
  if (url.username !== '' || url.password !== '') throw refuse('must be an address without user and password')
  if ((await reachToHost(url)) !== 'public') {
    const message = `${param} is a private address; ${what} is read from public ones only.`
    throw new GatewayError('private_address', { param }, { param, message })
  }
  const http = openHttp({}, { ...host, bounds: { reach: 'public' } })
  const target = http.target(url, ['user-agent', `sluice/${host.version}`, 'accept', 'application/json'])
  const timeouts = { connect: deadline, firstByte: deadline, idle: deadline, total: deadline }
  const answer = await http.ask(target, 'GET', { model: what, timeouts, scope })
  const hold = answerHold(host)
  try {
    const bytes = await collect(answer.body, limit, hold)
    if (answer.status === 200) return bytes
    throw new GatewayError('upstream_error', { model: what, reason: `it answered with status ${answer.status}.` })
  } finally {
    hold.release()
  }
}
