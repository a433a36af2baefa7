import { hash } from 'node:crypto'
import { defineService } from '../../engine/index.ts'
import { Keep, duration } from '../../engine/kit.ts'
import type { Records, Services } from '../../engine/index.ts'
import { checkMcpSecurity, mcpSecurity } from './mcp-security.ts'
import type { McpSecurity } from './mcp-security.ts'
import { openUpstream } from './open-upstream.ts'
import { OwnAddresses } from './own-addresses.ts'
import { ParameterHeaders } from './parameter-headers.ts'
import { ServerState } from './server-state.ts'
import { Sessions } from './sessions.ts'
import type { Session, SessionLimits } from './sessions.ts'
import { ToolFilter } from './tools.ts'
import type { ToolReview } from './tools.ts'
import { ending } from './upstream.ts'
import type { Upstream } from './upstream.ts'

/** A configured MCP server that is on. */
export interface Server {
  readonly record: Records['mcp_server']
  readonly upstream: Upstream
  /** What sessions depend on: with another one, they are unknown. */
  readonly identity: string
  readonly limits: SessionLimits
  /** Longest silence of a call in milliseconds. */
  readonly silence: number
  readonly tools: ToolFilter
  readonly parameters: ParameterHeaders
  /** Whether sessions can be opened. */
  readonly state: ServerState
}

/** The MCP servers of a configuration, and the sessions of clients with them. */
export interface Mcp {
  readonly settings: McpSecurity
  readonly addresses: OwnAddresses
  /** A server by name; undefined if there is none, or if it is off. */
  server(name: string): Server | undefined
  readonly sessions: Sessions
  /** Lets a service decide further about tools. To be called when it is configured. */
  reviewTools(review: ToolReview): void
}

declare module '../../engine/index.ts' {
  interface Services {
    mcp: Mcp
  }
}

export default defineService({
  name: 'mcp',
  summary: 'The MCP servers behind the gateway, and the sessions of clients with them.',
  section: 'mcp_security',
  settings: mcpSecurity,
  check: checkMcpSecurity,
  uses: ['mcp_servers', 'api_keys', 'metrics'],
  open(host) {
    const keep = new Keep()
    let current: ReadonlyMap<string, Server> = new Map()
    let keys: Services['api_keys'] | undefined
    const expired = async ({ server, identity, upstream }: Session) => {
      const found = current.get(server)
      if (upstream === undefined || found?.identity !== identity) return
      await found.upstream.end(upstream, ending)
    }
    const admits = ({ server, identity, key }: Session) => {
      const found = current.get(server)
      return found?.identity === identity && mayUse(keys?.get(key), found.record)
    }
    const sessions = new Sessions(host, { expired, admits })
    return {
      configure(settings, { mcp_servers: allowed, api_keys, metrics }, { records, catalog, listen, isDeclared }) {
        const lease = keep.lease()
        let review: ToolReview | undefined
        const opening = { settings, host, lease, catalog, isDeclared }
        const servers = new Map(
          records.of('mcp_server').map((record): [string, Server] => {
            // The operator wrote what the file declares.
            const admission = isDeclared(record) ? { path: record.command ?? '' } : allowed.admit(record)
            const identity = identityOf(record, admission)
            const kept = `${record.name} ${identity}`
            const state = lease.get(`state ${kept}`, () => new ServerState())
            const parameters = lease.get(`parameters ${kept}`, () => new ParameterHeaders())
            const { max_description_bytes } = settings
            const server = {
              record,
              upstream: openUpstream(record, { identity, state, admission }, opening),
              identity,
              limits: limitsOf(record, settings),
              state,
              parameters,
              tools: new ToolFilter(record, { max_description_bytes, parameters, review: () => review }),
              silence: duration(record.call_timeout ?? settings.call_timeout),
            }
            return [record.name, server]
          }),
        )
        return {
          view: {
            settings,
            addresses: new OwnAddresses(listen, settings),
            sessions,
            server: (name) => servers.get(name),
            reviewTools: (given) => void (review = given),
          },
          live() {
            for (const [name, { identity, upstream }] of current)
              if (servers.get(name)?.identity !== identity) upstream.retire?.()
            current = servers
            keys = api_keys
            measure(metrics, sessions, servers)
          },
          close: () => lease.close(),
        }
      },
      async close() {
        await keep.close()
        await sessions.close()
      },
    }
  },
})

/** Measures the sessions that this process knows. */
function measure(
  metrics: Services['metrics'],
  sessions: Pick<Sessions, 'count'>,
  servers: ReadonlyMap<string, Pick<Server, 'identity'>>,
): void {
  const known = metrics.gauge({
    name: 'sluice_mcp_sessions',
    help: 'Sessions of clients with an MCP server; one that several processes have served counts in each.',
    labels: { server: { records: 'mcp_server' } },
    across: 'sum',
  })
  metrics.onRead('mcp', () => {
    for (const [server, { identity }] of servers) known({ server }).set(sessions.count({ server, identity }))
  })
}

/**
 * Whether an API key may use a server; undefined: there is no such key any more. A program takes memory and processes of
 * the gateway's machine, so that a key may use it by its name alone; where its owner narrows or makes the key himself, by
 * the name that an admin gave it.
 */
export function mayUse(
  key: ReturnType<Services['api_keys']['get']>,
  { name, transport }: Pick<Records['mcp_server'], 'name' | 'transport'>,
): boolean {
  if (key?.state !== 'active') return false
  if (transport === 'http') return key.mcpServers?.includes(name) ?? true
  const { mcpServers, granted = { mcpServers } } = key
  return [mcpServers, granted.mcpServers].every((names) => names?.includes(name))
}

/** Sessions end after this time without use, in milliseconds: those of programs, and those over HTTP. */
const [programLife, httpLife] = [10 * 60_000, 60 * 60_000]

function limitsOf({ transport }: Records['mcp_server'], settings: McpSecurity): SessionLimits {
  return transport === 'stdio'
    ? { most: settings.programs_per_key, life: programLife }
    : { most: settings.sessions_per_key, life: httpLife }
}

/**
 * A session survives changes of what the gateway alone decides.
 * @param admission whether the operator allows the program; without it, its sessions end
 */
function identityOf(
  { transport, url, headers, command, arguments: words, environment, cwd, shared }: Records['mcp_server'],
  admission: object,
) {
  const isForbidden = transport === 'stdio' && 'misfit' in admission
  const program = { command, words, environment, cwd, shared, ...(isForbidden ? { isForbidden } : {}) }
  const facts = { transport, url, headers, ...program }
  return hash('sha256', JSON.stringify(facts), 'base64url')
}
