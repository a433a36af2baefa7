import { defineAction } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import type { JsonObject, Services, ShownRecord } from '../../engine/index.ts'
import { recordOf } from './capabilities.ts'
import { Probe } from './probe.ts'

const orNull = (description: string) => shape.orNull(shape.text(description))

/** Answers whether this process reaches an MCP server. With `probe=true`, it connects now. */
export default defineAction({
  name: 'get-mcp-status',
  summary: 'Answer the state of an MCP server.',
  route: 'GET /api/mcp/servers/:name/status',
  access: { role: 'admin' },
  query: { probe: { type: 'boolean', description: 'Whether to connect now.' } },
  answer: shape.object({
    state: shape.word(['connecting', 'connected', 'failed', 'off'], 'Whether it can be reached.'),
    protocol_version: orNull('The version of the protocol that it speaks.'),
    server: shape.orNull(
      shape.object({ name: orNull('Its name.'), version: orNull('Its version.') }, {}, 'What it says of itself.'),
    ),
    since: shape.orNull(shape.time('Since when it has this state.')),
    latency_ms: shape.orNull(shape.number('How long it took to connect, in milliseconds.')),
    error: shape.orNull(
      shape.object(
        { code: shape.text('The code of the error.'), message: shape.text('What went wrong.') },
        {},
        'Why not.',
      ),
    ),
    sessions: shape.integer('Number of open sessions.'),
    changed_tools: shape.list({ type: 'string' }, 'The tools that have changed since they were approved.'),
  }),
  uses: ['mcp', 'mcp_tools'],
  async run({ params, query }, services, scope, host) {
    const record = recordOf(params.name, host.records)
    const { mcp } = services
    const server = mcp.server(record.name)
    if (server && query.flag('probe') === true) {
      const probing = { host, scope, limit: mcp.settings.max_answer_bytes }
      // How it went is the answer.
      await Probe.with(server, probing, async () => undefined).catch(() => undefined)
    }
    return statusOf(record, services, host.scrub)
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
