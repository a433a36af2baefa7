import { openHttp } from '../../engine/kit.ts'
import type { Keep } from '../../engine/kit.ts'
import type { Records, ServiceConfiguration, ServiceHost } from '../../engine/index.ts'
import { HttpUpstream } from './http-upstream.ts'
import type { McpSecurity } from './mcp-security.ts'
import type { McpServers } from './mcp-servers.ts'
import type { ServerState } from './server-state.ts'
import { StdioServer } from './stdio-server.ts'
import { StdioUpstream } from './stdio-upstream.ts'
import type { Upstream } from './upstream.ts'

/** What connections to servers need of a configuration. */
export interface Opening extends Pick<ServiceConfiguration, 'catalog' | 'isDeclared'> {
  readonly settings: McpSecurity
  readonly servers: McpServers
  readonly host: Pick<ServiceHost, 'log' | 'version'>
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
    return new StdioUpstream(server, { restarts: record.restarts, mayStart })
  }
  const isPublic = !isDeclared(record) && !record.allow_private
  const http = openHttp(
    { timeouts: { connect: settings.connect_timeout } },
    { keep: lease.get, catalog, ...(isPublic ? { publicOnly: { note: () => undefined } } : {}) },
  )
  return new HttpUpstream(record, http, { version: host.version, forwarded: settings.forward_headers })
}
