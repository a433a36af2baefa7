import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { BlockList } from 'node:net'
import { isWithin, rangesOf } from '../config/address-ranges.ts'
import type { ConfigurationSource, ServedConfiguration } from './configuration-source.ts'
import { corsOf } from './cors.ts'
import type { Cors } from './cors.ts'

/** The settings of a configuration for identifying clients: their address, and the origin of their page. */
export interface Edge {
  readonly cors: Cors
  /** Absent: no proxy is trusted to report the client's address. */
  readonly proxies?: BlockList
  /** Receives the address of a peer that is no trusted proxy, and sends `x-forwarded-for`. */
  readonly untrusted?: (peer: string) => void
}

const known = new WeakMap<ServedConfiguration, Edge>()

/** The edge of a snapshot, created once. */
export function edgeOf(snapshot: ServedConfiguration, live: Pick<ConfigurationSource, 'noteUntrusted'>): Edge {
  const made = known.get(snapshot)
  if (made) return made
  const { cors, security } = snapshot.settings.server_config
  const proxies = security.trusted_proxies.length > 0 ? rangesOf(security.trusted_proxies) : undefined
  const untrusted = (peer: string) => live.noteUntrusted(peer)
  const edge = { cors: corsOf(cors, snapshot.registry), untrusted, ...(proxies && { proxies }) }
  known.set(snapshot, edge)
  return edge
}

/** The address of a client: the peer's address or, if the peer is a trusted proxy, the last address in `x-forwarded-for` that is not one. Earlier addresses there may be forged. */
export function clientAddress(
  { socket, headers }: IncomingMessage,
  { proxies, untrusted }: Pick<Edge, 'proxies' | 'untrusted'>,
): string {
  const peer = socket.remoteAddress ?? ''
  const header = headers['x-forwarded-for']
  if (header === undefined) return peer
  if (proxies === undefined || !isWithin(peer, proxies)) {
    untrusted?.(peer)
    return peer
  }
  const forwarded = [header].flat().join(',').split(',')
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
