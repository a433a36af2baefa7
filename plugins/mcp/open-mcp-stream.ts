import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { Source } from '../../engine/index.ts'
import { AnswerReader } from './answer-reader.ts'
import { answerOf, relayed } from './relay.ts'

/** Opens the stream of a session on which its server sends messages of its own, or resumes a stream. */
export default defineStage({
  name: 'open-mcp-stream',
  summary: 'Open the stream of an MCP session, or resume one.',
  config: noConfig,
  needs: ['ingress', 'mcp.server', 'mcp.session'],
  provides: ['reply'],
  settles: [],
  uses: ['mcp'],
  timeout: '24h',
  build:
    (_config, host, { mcp }) =>
    async ({ ingress, 'mcp.server': server, 'mcp.session': { live } }, scope, settle) => {
      const { headers, method, path } = ingress
      // A HEAD would hold the only stream of the session, and read nothing of it.
      if (method !== 'GET') throw new GatewayError('method_not_allowed', { method, path, allow: 'GET, POST, DELETE' })
      if (!headers.accept?.toLowerCase().includes('text/event-stream'))
        throw new GatewayError('not_acceptable', { expected: 'text/event-stream' })
      if (!live) throw new GatewayError('session_not_found')
      const as = headers['last-event-id'] === undefined ? 'only' : 'resumed'
      if (as === 'only') settle(live.streams.reserve())
      const answer = await server.upstream.listen({ scope, headers, silence: 0 }, live.upstream)
      const reader = new AnswerReader({
        tools: server.tools,
        limit: mcp.settings.max_answer_bytes,
        flights: live.flights,
      })
      const lasting = { host, scope, reader, lasting: (source: Source) => live.streams.add(source, as) }
      return { reply: await relayed(await answerOf(answer, live, mcp), lasting) }
    },
})
