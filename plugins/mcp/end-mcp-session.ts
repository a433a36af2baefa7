import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { emptyReply } from '../../engine/kit.ts'
import { AnswerReader } from './answer-reader.ts'
import { relayed } from './relay.ts'

/** Ends a session, at its server, too. */
export default defineStage({
  name: 'end-mcp-session',
  summary: 'End an MCP session.',
  config: noConfig,
  needs: ['ingress', 'mcp.server', 'mcp.session'],
  provides: ['reply'],
  uses: ['mcp'],
  build:
    (_config, host, { mcp }) =>
    async ({ ingress, 'mcp.server': server, 'mcp.session': { live } }, scope) => {
      if (!live) throw new GatewayError('session_not_found')
      if (live.upstream === undefined) {
        await mcp.sessions.forget(live)
        return { reply: emptyReply }
      }
      const sending = { scope, headers: ingress.headers, silence: server.silence }
      const answer = await server.upstream.end(live.upstream, sending)
      // A server may refuse to end sessions: then it goes on.
      if (answer.status !== 405) await mcp.sessions.forget(live)
      if (answer.status === 404) throw new GatewayError('session_not_found')
      const reader = new AnswerReader({ tools: server.tools, limit: mcp.settings.max_answer_bytes })
      return { reply: await relayed(answer, { host, scope, reader }) }
    },
})
