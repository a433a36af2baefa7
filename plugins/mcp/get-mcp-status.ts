import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery, timeText } from '../../engine/kit.ts'
import type { JsonObject, Services, ShownRecord } from '../../engine/index.ts'
import { recordIn } from './capabilities.ts'
import { Probe } from './probe.ts'

/** Returns whether this process reaches an MCP server, by the path's `:name`. With `probe=true`, it connects now. */
export default defineStage({
  name: 'get-mcp-status',
  summary: 'Return the state of an MCP server.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['mcp', 'mcp_tools'],
  build:
    (_config, host, { mcp, mcp_tools: pins }) =>
    async ({ ingress }, scope) => {
      const probes = readQuery(ingress.query, { probe: 'boolean' }).flag('probe') === true
      const record = recordIn(ingress, host.records)
      const server = mcp.server(record.name)
      if (server && probes) {
        const probing = { host, scope, limit: mcp.settings.max_answer_bytes }
        // How it went is the answer.
        await Probe.with(server, probing, async () => undefined).catch(() => undefined)
      }
      return { reply: jsonReply(statusOf(record, { mcp, mcp_tools: pins }, host.scrub)) }
    },
})

function statusOf(
  { name, problem }: ShownRecord,
  { mcp, mcp_tools: pins }: Pick<Services, 'mcp' | 'mcp_tools'>,
  scrub: (text: string) => string,
): JsonObject {
  const server = mcp.server(name)
  const sessions = server ? mcp.sessions.count({ server: name, identity: server.identity }) : 0
  const tools = { sessions, changed_tools: [...pins.changed(name)] }
  if (server === undefined) {
    const error = { code: 'off', message: problem ?? 'it is off' }
    return { state: 'off', protocol_version: null, server: null, since: null, latency_ms: null, error, ...tools }
  }
  const { state, version = null, server: info = null, since, latency = null, error } = server.state.known
  return {
    state,
    protocol_version: version,
    server: info && { ...info },
    since: timeText(since),
    latency_ms: latency,
    error: error ? { code: error.code, message: scrub(error.message) } : null,
    ...tools,
  }
}
