import { defineAction } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { capabilities, capabilitiesOf, recordOf } from './capabilities.ts'

/**
 * Answers what an MCP server offers: asked now, and before any filter. With `compare=true`, each tool that is not approved
 * has in `was` the description and the schema that were approved; null: they are not kept.
 */
export default defineAction({
  name: 'get-mcp-capabilities',
  summary: 'Answer the tools, resources and prompts of an MCP server.',
  route: 'GET /api/mcp/servers/:name/capabilities',
  access: { role: 'admin' },
  query: { compare: { type: 'boolean', description: 'Whether changed tools tell what was approved.' } },
  answer: capabilities,
  errors: ['upstream_error', 'upstream_unreachable', 'upstream_timeout'],
  uses: ['mcp', 'mcp_tools'],
  async run({ params, query }, services, scope, host) {
    const record = recordOf(params.name, host.records)
    const probing = { host, scope, limit: services.mcp.settings.max_answer_bytes }
    const found = await capabilitiesOf(record, services, probing)
    if (query.flag('compare') !== true) return found
    const approved = await services.mcp_tools.approvedOf(record.name)
    const tools = (found['tools'] as readonly JsonObject[]).map((tool) =>
      tool['approved'] === true ? tool : { ...tool, was: approved.get(tool['name'] as string) ?? null },
    )
    return { ...found, tools }
  },
})
