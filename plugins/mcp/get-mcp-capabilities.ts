import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply } from '../../engine/kit.ts'
import { capabilitiesOf, plainRecordIn } from './capabilities.ts'

/** Returns what an MCP server offers, by the path's `:name`: asked now, and before any filter. */
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
      const record = plainRecordIn(ingress, host.records)
      const probing = { host, scope, limit: services.mcp.settings.max_answer_bytes }
      return { reply: jsonReply(await capabilitiesOf(record, services, probing)) }
    },
})
