import { hash } from 'node:crypto'
import { defineService } from '../../engine/index.ts'
import { Keep, duration, openHttp } from '../../engine/kit.ts'
import type { Records } from '../../engine/index.ts'
import { HttpUpstream } from './http-upstream.ts'
import { checkMcpSecurity, mcpSecurity } from './mcp-security.ts'
import type { McpSecurity } from './mcp-security.ts'
import { OwnAddresses } from './own-addresses.ts'
import { Sessions } from './sessions.ts'
import type { Session } from './sessions.ts'
import { ToolFilter } from './tools.ts'
import type { ToolReview } from './tools.ts'
import type { Upstream } from './upstream.ts'

/** A configured MCP server that is on. */
export interface Server {
  readonly record: Records['mcp_server']
  readonly upstream: Upstream
  /** What sessions depend on: with another one, they are unknown. */
  readonly identity: string
  /** Longest silence of a call in milliseconds. */
  readonly silence: number
  readonly tools: ToolFilter
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
  open(host) {
    const keep = new Keep()
    let current: ReadonlyMap<string, Server> = new Map()
    const expired = async ({ server, identity, upstream }: Session) => {
      const found = current.get(server)
      if (upstream === undefined || found?.identity !== identity) return
      await found.upstream.end(upstream, { scope: endless, headers: {}, silence: endSilence })
    }
    const sessions = new Sessions(host, expired)
    return {
      configure(settings, _views, { records, catalog, listen, isDeclared }) {
        const lease = keep.lease()
        let review: ToolReview | undefined
        const open = (record: Records['mcp_server']): Upstream => {
          const isPublic = !isDeclared(record) && !record.allow_private
          const http = openHttp(
            { timeouts: { connect: settings.connect_timeout } },
            { keep: lease.get, catalog, ...(isPublic ? { publicOnly: { note: () => undefined } } : {}) },
          )
          return new HttpUpstream(record, http, { version: host.version, forwarded: settings.forward_headers })
        }
        const servers = new Map(
          records
            .of('mcp_server')
            .filter(({ transport }) => transport === 'http')
            .map((record): [string, Server] => [
              record.name,
              {
                record,
                upstream: open(record),
                identity: identityOf(record),
                tools: new ToolFilter(record, settings, () => review),
                silence: duration(record.call_timeout ?? settings.call_timeout),
              },
            ]),
        )
        return {
          view: {
            settings,
            addresses: new OwnAddresses(listen, settings),
            sessions,
            server: (name) => servers.get(name),
            reviewTools: (given) => void (review = given),
          },
          live: () => void (current = servers),
          close: () => lease.close(),
        }
      },
      async close() {
        sessions.close()
        await keep.close()
      },
    }
  },
})

/** A session that nobody waits for is ended at its server within this many milliseconds. */
const endSilence = 10_000
const endless = { onAbort: () => () => undefined }

/** A session survives changes of what the gateway alone decides. */
function identityOf({
  transport,
  url,
  headers,
  command,
  arguments: words,
  environment,
  cwd,
  shared,
}: Records['mcp_server']) {
  const facts = { transport, url, headers, command, words, environment, cwd, shared }
  return hash('sha256', JSON.stringify(facts), 'base64url')
}
