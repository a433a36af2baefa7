import { GatewayError } from '../../engine/index.ts'
import { shape, timeText } from '../../engine/kit.ts'
import type { JsonObject, RecordLookup, Services, ShownRecord } from '../../engine/index.ts'
import { Probe } from './probe.ts'
import type { Probing } from './probe.ts'
import { definitionOf, hashOf } from './tool-definition.ts'

/** The record of the server in the path of an action. Throws `not_found`. */
export function recordOf(name: string, records: RecordLookup): ShownRecord {
  const record = records.find('mcp_server', name)
  if (record === undefined)
    throw new GatewayError('not_found', {}, { message: `There is no MCP server "${name.slice(0, 256)}".` })
  return record
}

const definition = {
  description: shape.orNull(shape.text('What it does, as models read it.')),
  input_schema: shape.json('JSON Schema of its input.'),
}

const offered = (what: string) => shape.list(shape.map({}, 'As the server describes it.'), what)

/** JSON Schema of what a server offers. */
export const capabilities = shape.object({
  tools: shape.list(
    shape.object(
      {
        name: shape.text('Its name.'),
        ...definition,
        hash: shape.text('Hash of what clients read of it.'),
        approved: shape.flag('Whether it is approved as it is.'),
      },
      { was: shape.orNull(shape.object(definition, {}, 'What was approved; null: it is not kept.')) },
    ),
    'Its tools.',
  ),
  resources: offered('Its resources.'),
  resource_templates: offered('Its templates of resources.'),
  prompts: offered('Its prompts.'),
  fetched_at: shape.time('When the server was asked.'),
})

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
