import { defined, flatName } from '../../engine/kit.ts'
import type { Item, Json, JsonObject, Tool } from '../../engine/index.ts'
import type { FindTool } from '../../engine/kit.ts'
import { parseTools } from './tools.ts'
import { isList, object, objects, protocol } from './values.ts'

/** The effective tools of a request: those of `tools`, and those that items of the conversation add. */
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

/** The callable tools of a tool search. Other results are dropped, because they are not the client's mistake. */
function usable(tools: Json | undefined): readonly JsonObject[] {
  return objects(tools)
    .filter(({ name }) => typeof name === 'string' && name !== '')
    .map((tool) => (tool['type'] === 'namespace' ? { ...tool, tools: usable(tool['tools']) } : tool))
}

/** Every tool once, at the position of its first declaration and with the content of its last one. */
function merged(...lists: readonly (readonly Tool[])[]): readonly Tool[] {
  return [...new Map(lists.flat().map((tool) => [keyOf(tool), tool])).values()]
}

/** The tools that a tool search has added. Their own protocol has them in the items; other protocols need them here. */
function fresh(before: readonly Tool[], found: readonly Tool[]): readonly Tool[] {
  const taken = new Set(before.map(keyOf))
  return merged(found).flatMap((tool) =>
    tool.type === 'opaque' || taken.has(keyOf(tool)) ? [] : [{ ...tool, loaded: protocol }],
  )
}

function keyOf(tool: Tool): string {
  return tool.type === 'opaque' ? JSON.stringify(tool.value) : `${tool.namespace ?? ''} ${tool.name}`
}

/** The item with the namespace of its tool, if the client omitted it or sent the flattened name. */
export function requalified(item: Item, find: FindTool): Item {
  if (item.type !== 'call' || item.namespace !== undefined) return item
  const tool = find(item)
  if (tool?.namespace === undefined || (tool.name !== item.name && flatName(tool) !== item.name)) return item
  return defined({ ...item, name: tool.name, namespace: tool.namespace })
}
