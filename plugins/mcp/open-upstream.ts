import { hash } from 'node:crypto'
import { duration, openHttp } from '../../engine/kit.ts'
import type { Keep, Reach } from '../../engine/kit.ts'
import type { Records, ServiceConfiguration, ServiceHost } from '../../engine/index.ts'
import type { Admission } from './allowed-programs.ts'
import { HttpUpstream } from './http-upstream.ts'
import type { McpSecurity } from './mcp-security.ts'
import { PeeredUpstream } from './peered-upstream.ts'
import { Peers, questionHeader, serverHeader } from './peers.ts'
import type { ServerState } from './server-state.ts'
import { StdioServer } from './stdio-server.ts'
import { StdioUpstream } from './stdio-upstream.ts'
import type { Upstream } from './upstream.ts'

/** What connections to servers need of a configuration. */
export interface Opening extends Pick<ServiceConfiguration, 'catalog' | 'isDeclared'> {
  readonly settings: McpSecurity
  readonly host: Pick<ServiceHost, 'log' | 'version' | 'deriveKey' | 'firstProcess'>
  /** Keeps what outlives the configuration. */
  readonly lease: ReturnType<Keep['lease']>
}

/** What belongs to the identity of a server, and outlives the configuration with it. */
export interface Lasting {
  readonly identity: string
  readonly state: ServerState
  /** The program to start, or why the operator does not allow it. */
  readonly admission: Admission
}

/** The connection to a server. */
export function openUpstream(
  record: Records['mcp_server'],
  { identity, state, admission }: Lasting,
  opening: Opening,
): Upstream {
  const { settings, host, lease, catalog, isDeclared } = opening
  if (record.transport === 'stdio') {
    const misfit = 'misfit' in admission ? admission.misfit : undefined
    const program = 'path' in admission ? { ...record, command: admission.path } : record
    const make = () => new StdioServer(program, host.log, (error) => state.failed(error))
    const server = lease.get(`stdio ${record.name} ${identity}`, make, (one) => one.close())
    const own = new StdioUpstream(server, { restarts: record.restarts, misfit })
    if (misfit !== undefined) state.failed(server.notAllowed(misfit))
    return host.firstProcess ? peered(own, record, identity, opening) : own
  }
  const http = openHttp(
    { timeouts: { connect: settings.connect_timeout } },
    { keep: lease.get, catalog, bounds: { reach: reachOf(record, isDeclared(record)) } },
  )
  return new HttpUpstream(record, http, { version: host.version, forwarded: settings.forward_headers })
}

/** How far connections to a server may go. Only the file can allow link-local addresses. */
function reachOf(record: Records['mcp_server'], declared: boolean): Reach {
  if (declared) return record.allow_link_local ? 'any' : 'private'
  return record.allow_private ? 'private' : 'public'
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
  const at = (url: string, question?: string) => {
    const asked = question === undefined ? {} : { [questionHeader]: question }
    const headers = { authorization: peers.authorization, [serverHeader]: name, ...asked }
    return new HttpUpstream({ ...record, url, headers }, http, { version: host.version, forwarded: [] })
  }
  return new PeeredUpstream(own, peers, at)
}
