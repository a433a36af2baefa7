import { flatName } from '../../engine/kit.ts'
import type { Item, Json, JsonObject, Tool } from '../../engine/index.ts'
import type { FindTool } from '../../engine/kit.ts'
import { parseTools } from './tools.ts'
import { isList, known, object, objects, protocol } from './values.ts'

/** The tools that hold for a request: those of `tools`, with what items of the conversation bring. */
export function effectiveTools(body: JsonObject): readonly Tool[] {
  const declared = parseTools(body['tools'], 'tools')
  const added = brought(body, 'additional_tools')
  const loaded = brought(body, 'tool_search_output', usable)
  return [...merged(declared, added), ...fresh([...declared, ...added], loaded)]
}

function brought(
  body: JsonObject,
  type: string,
  chosen: (tools: Json | undefined) => Json | undefined = (tools) => tools,
): readonly Tool[] {
  return ['instructions', 'input'].flatMap((field) => {
    const items = body[field]
    if (!isList(items)) return []
    return items.flatMap((item, index) => {
      const value = object(item)
      return value?.['type'] === type ? parseTools(chosen(value['tools']), `${field}[${index}].tools`) : []
    })
  })
}

/** The tools among those that a search has found that can be called: what it found otherwise is no fault of the client. */
function usable(tools: Json | undefined): readonly JsonObject[] {
  return objects(tools)
    .filter(({ name }) => typeof name === 'string' && name !== '')
    .map((tool) => (tool['type'] === 'namespace' ? { ...tool, tools: usable(tool['tools']) } : tool))
}

/** Every tool once, in the place of its first mention and as it was declared last. */
function merged(...lists: readonly (readonly Tool[])[]): readonly Tool[] {
  return [...new Map(lists.flat().map((tool) => [keyOf(tool), tool])).values()]
}

/** Tools that a search has found: their own protocol reads them where they stand, others must be told of them. */
function fresh(before: readonly Tool[], found: readonly Tool[]): readonly Tool[] {
  const taken = new Set(before.map(keyOf))
  return merged(found).flatMap((tool) =>
    tool.type === 'opaque' || taken.has(keyOf(tool)) ? [] : [{ ...tool, loaded: protocol }],
  )
}

function keyOf(tool: Tool): string {
  return tool.type === 'opaque' ? JSON.stringify(tool.value) : `${tool.namespace ?? ''} ${tool.name}`
}

/** The item with the namespace of the tool it calls, where a client left that out or sent the flattened name. */
export function requalified(item: Item, find: FindTool): Item {
  if (item.type !== 'call' || item.namespace !== undefined) return item
  const tool = find(item)
  if (tool?.namespace === undefined || (tool.name !== item.name && flatName(tool) !== item.name)) return item
  return known({ ...item, name: tool.name, namespace: tool.namespace })
}
