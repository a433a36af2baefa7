import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { BlockList } from 'node:net'
import { isWithin, rangesOf } from '../config/address-ranges.ts'
import type { Snapshot } from '../live/snapshot.ts'
import { corsOf } from './cors.ts'
import type { Cors } from './cors.ts'

/** What a configuration says of whoever asks: from where, and on behalf of which site. */
export interface Edge {
  readonly cors: Cors
  /** Absent: nobody is trusted to name the client. */
  readonly proxies?: BlockList
}

const known = new WeakMap<Snapshot, Edge>()

/** The edge of a snapshot, made once. */
export function edgeOf(snapshot: Snapshot): Edge {
  const made = known.get(snapshot)
  if (made) return made
  const { cors, security } = snapshot.settings.server_config
  const proxies = security.trusted_proxies.length > 0 ? rangesOf(security.trusted_proxies) : undefined
  const edge = { cors: corsOf(cors, snapshot.registry), ...(proxies && { proxies }) }
  known.set(snapshot, edge)
  return edge
}

/**
 * The address of a client: of whoever is connected or, where that is a trusted proxy, the last one in `x-forwarded-for`
 * that is none. What stands before it may be made up.
 */
export function clientAddress({ socket, headers }: IncomingMessage, { proxies }: Pick<Edge, 'proxies'>): string {
  const peer = socket.remoteAddress ?? ''
  if (proxies === undefined) return peer
  const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',')
  let address = peer
  while (isWithin(address, proxies)) {
    const before = withoutPort(forwarded.pop()?.trim() ?? '')
    if (isIP(before) === 0) break
    address = before
  }
  return address
}

/** Some proxies write the port, too. */
function withoutPort(text: string): string {
  const [, within, plain] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? []
  return within ?? plain ?? text
}
