import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Ingress } from '../../engine/index.ts'
import type { Message } from './message.ts'
import type { LiveSession } from './sessions.ts'
import { isStateless, namesStateless } from './versions.ts'

/** What a request belongs to: a session, a new one, or none (revision 2026-07-28). */
export interface Belonging {
  readonly stateless: boolean
  /** Absent: the request is `initialize`, or stateless. */
  readonly live?: LiveSession
}

declare module '../../engine/index.ts' {
  interface Slots {
    'mcp.session': Belonging
  }
}

/** Finds the session of a request. It belongs to the API key and the server that it was opened with. */
export default defineStage({
  name: 'find-mcp-session',
  summary: 'Find the MCP session that the request names, and check the version of the protocol.',
  config: noConfig,
  needs: ['ingress', 'principal', 'mcp.server'],
  reads: ['mcp.message'],
  provides: ['mcp.session'],
  uses: ['mcp'],
  build:
    (_config, _host, { mcp }) =>
    async ({ ingress, principal, 'mcp.server': server, 'mcp.message': message }) => {
      const { headers, method, path } = ingress
      const served = { stateless: server.upstream.stateless, versions: server.state.versions }
      const stateless = message ? isStateless(message, headers, served) : namesStateless(headers, served)
      if (stateless && !message) throw new GatewayError('method_not_allowed', { method, path, allow: 'POST' })
      if (message && stateless) server.parameters.check(message, headers)
      if (stateless) return { 'mcp.session': { stateless } }
      const id = sessionOf(headers)
      if (id === undefined) {
        if (!begins(message)) throw new GatewayError('invalid_request', { reason: noSession })
        return { 'mcp.session': { stateless } }
      }
      const { record, identity } = server
      const live = await mcp.sessions.find(id, { server: record.name, identity, key: principal.id })
      return { 'mcp.session': { stateless, live } }
    },
})

const noSession = 'The header mcp-session-id is missing; send initialize first.'

function begins(message: Message | undefined): boolean {
  return message?.kind === 'request' && message.method === 'initialize'
}

/** The id that a client sends; one that was sent twice is no id. */
function sessionOf({ 'mcp-session-id': id }: Ingress['headers']): string | undefined {
  return id === undefined ? undefined : String(id)
}
