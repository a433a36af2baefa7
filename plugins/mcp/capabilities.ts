import { GatewayError } from '../../engine/index.ts'
import { readQuery, timeText } from '../../engine/kit.ts'
import type { Ingress, JsonObject, RecordLookup, Services, ShownRecord } from '../../engine/index.ts'
import { Probe } from './probe.ts'
import type { Probing } from './probe.ts'
import { definitionOf, hashOf } from './tool-definition.ts'

/** The record of the server in the path of an action. Throws `not_found`. */
export function recordIn({ params }: Pick<Ingress, 'params'>, records: RecordLookup): ShownRecord {
  const name = params['name'] ?? ''
  const record = records.find('mcp_server', name)
  if (record === undefined)
    throw new GatewayError('not_found', {}, { message: `There is no MCP server "${name.slice(0, 256)}".` })
  return record
}

/** The same for a request without a query. */
export function plainRecordIn(ingress: Ingress, records: RecordLookup): ShownRecord {
  readQuery(ingress.query)
  return recordIn(ingress, records)
}

/** What a server offers, asked now, with what is known of its tools. Rejects with errors of the upstream. */
export async function capabilitiesOf(
  { name, problem }: ShownRecord,
  { mcp, mcp_tools: pins }: Pick<Services, 'mcp' | 'mcp_tools'>,
  probing: Probing,
): Promise<JsonObject> {
  const server = mcp.server(name)
  if (server === undefined) {
    const message = `The MCP server "${name}" cannot be asked: ${problem ?? 'it is off'}.`
    throw new GatewayError('upstream_unreachable', {}, { message })
  }
  const found = await Probe.with(server, probing, async (probe) => ({
    tools: (await probe.list('tools/list', 'tools')).filter((tool) => typeof tool['name'] === 'string'),
    resources: await probe.list('resources/list', 'resources'),
    resource_templates: await probe.list('resources/templates/list', 'resourceTemplates'),
    prompts: await probe.list('prompts/list', 'prompts'),
  }))
  const isIgnored = mcp.settings.tool_changes === 'ignore'
  if (!isIgnored) pins.see(name, found.tools)
  const tools = found.tools.map((tool) => {
    const { name: word } = tool
    const hash = hashOf(tool)
    const approved = isIgnored || pins.of(name).get(word as string)?.approved === hash
    return { name: word, ...definitionOf(tool), hash, approved }
  })
  return { ...found, tools, fetched_at: timeText(Date.now()) }
}
