import { hash } from 'node:crypto'
import { duration, openHttp } from '../../engine/kit.ts'
import type { Keep } from '../../engine/kit.ts'
import type { Records, ServiceConfiguration, ServiceHost } from '../../engine/index.ts'
import { HttpUpstream } from './http-upstream.ts'
import type { McpSecurity } from './mcp-security.ts'
import type { McpServers } from './mcp-servers.ts'
import { PeeredUpstream } from './peered-upstream.ts'
import { Peers, serverHeader } from './peers.ts'
import type { ServerState } from './server-state.ts'
import { StdioServer } from './stdio-server.ts'
import { StdioUpstream } from './stdio-upstream.ts'
import type { Upstream } from './upstream.ts'

/** What connections to servers need of a configuration. */
export interface Opening extends Pick<ServiceConfiguration, 'catalog' | 'isDeclared'> {
  readonly settings: McpSecurity
  readonly servers: McpServers
  readonly host: Pick<ServiceHost, 'log' | 'version' | 'deriveKey' | 'firstProcess'>
  /** Keeps what outlives the configuration. */
  readonly lease: ReturnType<Keep['lease']>
}

/** What outlives the configuration, as long as a server keeps its identity. */
export interface Lasting {
  readonly identity: string
  readonly state: ServerState
}

/** The connection to a server. */
export function openUpstream(record: Records['mcp_server'], { identity, state }: Lasting, opening: Opening): Upstream {
  const { settings, servers, host, lease, catalog, isDeclared } = opening
  if (record.transport === 'stdio') {
    const make = () => new StdioServer(record, host.log, (error) => state.failed(error))
    const server = lease.get(`stdio ${record.name} ${identity}`, make, (one) => one.close())
    const mayStart = isDeclared(record) || servers.mayStart(record.command ?? '')
    const own = new StdioUpstream(server, { restarts: record.restarts, mayStart })
    return host.firstProcess ? peered(own, record, identity, opening) : own
  }
  const isPublic = !isDeclared(record) && !record.allow_private
  const http = openHttp(
    { timeouts: { connect: settings.connect_timeout } },
    { keep: lease.get, catalog, ...(isPublic ? { publicOnly: { note: () => undefined } } : {}) },
  )
  return new HttpUpstream(record, http, { version: host.version, forwarded: settings.forward_headers })
}

/** A server whose sessions every process of the gateway serves. */
function peered(
  own: Upstream,
  record: Records['mcp_server'],
  identity: string,
  { settings, host, lease, catalog }: Opening,
): Upstream {
  const peers = lease.get(
    'peers',
    () => new Peers(host),
    (one) => one.close(),
  )
  const name = hash('sha256', `${record.name} ${identity}`)
  peers.serve(name, { upstream: own, silence: duration(record.call_timeout ?? settings.call_timeout) })
  const http = openHttp({ timeouts: { connect: settings.connect_timeout } }, { keep: lease.get, catalog })
  const at = (url: string) => {
    const headers = { authorization: peers.authorization, [serverHeader]: name }
    return new HttpUpstream({ ...record, url, headers }, http, { version: host.version, forwarded: [] })
  }
  return new PeeredUpstream(own, peers, at)
}
