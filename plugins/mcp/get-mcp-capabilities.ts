import { defineStage, noConfig } from '../../engine/index.ts'
import type { JsonObject } from '../../engine/index.ts'
import { jsonReply, readQuery } from '../../engine/kit.ts'
import { capabilitiesOf, recordIn } from './capabilities.ts'

/**
 * Returns what an MCP server offers, by the path's `:name`: asked now, and before any filter. With `compare=true`, each
 * tool that is not approved has in `was` the description and the schema that were approved; null: they are not kept.
 */
export default defineStage({
  name: 'get-mcp-capabilities',
  summary: 'Return the tools, resources and prompts of an MCP server.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['mcp', 'mcp_tools'],
  build:
    (_config, host, services) =>
    async ({ ingress }, scope) => {
      const compares = readQuery(ingress.query, { compare: 'boolean' }).flag('compare') === true
      const record = recordIn(ingress, host.records)
      const probing = { host, scope, limit: services.mcp.settings.max_answer_bytes }
      const found = await capabilitiesOf(record, services, probing)
      if (!compares) return { reply: jsonReply(found) }
      const approved = await services.mcp_tools.approvedOf(record.name)
      const tools = (found['tools'] as readonly JsonObject[]).map((tool) =>
        tool['approved'] === true ? tool : { ...tool, was: approved.get(tool['name'] as string) ?? null },
      )
      return { reply: jsonReply({ ...found, tools }) }
    },
})
