import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, requesterOf } from '../../engine/kit.ts'
import type { JsonObject } from '../../engine/index.ts'
import { capabilitiesOf, plainRecordIn } from './capabilities.ts'

/** Approves the tools of an MCP server, by the path's `:name`, as they are now. Returns what the server offers. */
export default defineStage({
  name: 'approve-mcp-tools',
  summary: 'Approve the tools of an MCP server as they are.',
  config: noConfig,
  body: {
    type: 'object',
    additionalProperties: false,
    properties: {
      tools: {
        type: 'array',
        maxItems: 5_000,
        items: { type: 'string', minLength: 1 },
        description: 'Names of the tools to approve; default: all.',
      },
    },
  } as const,
  needs: ['ingress'],
  reads: ['principal'],
  provides: ['reply'],
  uses: ['mcp', 'mcp_tools'],
  build:
    (_config, host, services) =>
    async ({ input, ...slots }, scope) => {
      const { mcp, mcp_tools: pins } = services
      const record = plainRecordIn(slots.ingress, host.records)
      const probing = { host, scope, limit: mcp.settings.max_answer_bytes }
      const found = await capabilitiesOf(record, services, probing)
      await pins.written()
      const { tools = [...pins.of(record.name).keys()] } = input
      const unknown = tools.findIndex((tool) => !pins.of(record.name).has(tool))
      if (unknown >= 0) {
        const param = `tools[${unknown}]`
        throw new GatewayError('invalid_reference', { param, reason: 'is not a tool of the server' }, { param })
      }
      await pins.approve(record.name, tools, requesterOf(scope, slots))
      const shown = (found['tools'] as readonly JsonObject[]).map((tool) => ({
        ...tool,
        approved: pins.of(record.name).get(tool['name'] as string)?.approved === tool['hash'],
      }))
      return { reply: jsonReply({ ...found, tools: shown }) }
    },
})
