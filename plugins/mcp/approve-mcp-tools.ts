import { GatewayError, defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { capabilities, capabilitiesOf, recordOf } from './capabilities.ts'

/** Approves the tools of an MCP server as they are now. Answers what the server offers. */
export default defineAction({
  name: 'approve-mcp-tools',
  summary: 'Approve the tools of an MCP server as they are.',
  route: 'POST /api/mcp/servers/:name/approve',
  access: { role: 'admin' },
  body: {
    type: 'object',
    additionalProperties: false,
    examples: [{ tools: ['my-tool'] }],
    properties: {
      tools: {
        type: 'array',
        maxItems: 5_000,
        items: { type: 'string', minLength: 1 },
        description: 'Names of the tools to approve; default: all.',
      },
    },
  },
  answer: capabilities,
  errors: ['invalid_reference', 'upstream_error', 'upstream_unreachable', 'upstream_timeout'],
  writes: 'own audit row',
  uses: ['mcp', 'mcp_tools'],
  async run({ params, body, by }, services, scope, host) {
    const { mcp, mcp_tools: pins } = services
    const { name } = recordOf(params.name, host.records)
    const probing = { host, scope, limit: mcp.settings.max_answer_bytes }
    const found = await capabilitiesOf(recordOf(name, host.records), services, probing)
    await pins.written()
    const { tools = [...pins.of(name).keys()] } = body
    const unknown = tools.findIndex((tool) => !pins.of(name).has(tool))
    if (unknown >= 0) {
      const param = `tools[${unknown}]`
      throw new GatewayError('invalid_reference', { param, reason: 'is not a tool of the server' }, { param })
    }
    await pins.approve(name, tools, by)
    const shown = (found['tools'] as readonly JsonObject[]).map((tool) => ({
      ...tool,
      approved: pins.of(name).get(tool['name'] as string)?.approved === tool['hash'],
    }))
    return { ...found, tools: shown }
  },
})
