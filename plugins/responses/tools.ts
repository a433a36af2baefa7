import { defined } from '../../engine/kit.ts'
import { GatewayError } from '../../engine/index.ts'
import type { Json, JsonObject, Tool, ToolChoice, ToolRef } from '../../engine/index.ts'
import { boolean, isList, object, objects, protocol, text, without } from './values.ts'
import { isSearch, parseWish } from './web-search.ts'

const functionFields = new Set(['type', 'name', 'description', 'parameters', 'strict'])
const customFields = new Set(['type', 'name', 'description', 'format'])

/**
 * Parses the tools of a request; those of a `namespace` have its name. A namespace's vendor tools stay together as an
 * opaque namespace of this protocol, and so does an empty namespace. `at` is the path of the list in errors.
 */
export function parseTools(tools: Json | undefined, at: string): readonly Tool[] {
  return objects(tools).flatMap((tool, index): readonly Tool[] => {
    const place = `${at}[${index}]`
    if (tool['type'] !== 'namespace') return [readTool(tool, place)]
    const namespace = named(tool, place)
    const children = objects(tool['tools']).map((child, position) =>
      readTool(child, `${place}.tools[${position}]`, { namespace, description: text(tool['description']) }),
    )
    const own = children.filter((child) => child.type === 'opaque').map(({ value }) => value)
    if (own.length === 0 && children.length > 0) return children
    const others = children.filter((child) => child.type !== 'opaque')
    return [...others, { type: 'opaque', protocol, value: { ...tool, tools: own } }]
  })
}

function readTool(tool: JsonObject, at: string, group?: { namespace: string; description: string | undefined }): Tool {
  switch (tool['type']) {
    case 'function':
      return defined({
        type: 'function' as const,
        name: named(tool, at),
        namespace: group?.namespace,
        description: text(tool['description']),
        parameters: object(tool['parameters']),
        strict: strictOf(tool),
        rest: ownFields(tool, functionFields, group?.description),
      })
    case 'custom':
      return defined({
        type: 'custom' as const,
        name: named(tool, at),
        namespace: group?.namespace,
        description: text(tool['description']),
        format: object(tool['format']),
        rest: ownFields(tool, customFields, group?.description),
      })
    default:
      return defined({ type: 'opaque' as const, protocol, value: tool, search: group ? undefined : parseWish(tool) })
  }
}

function ownFields(tool: JsonObject, neutral: ReadonlySet<string>, description: string | undefined) {
  const fields = { ...without(tool, neutral), ...defined({ 'namespace.description': description }) }
  return Object.keys(fields).length > 0 ? { protocol, fields } : undefined
}

function named(tool: JsonObject, at: string): string {
  const name = text(tool['name'])
  if (!name) throw new GatewayError('invalid_value', { param: `${at}.name`, reason: 'a tool needs a name' })
  return name
}

/**
 * Whether a function's schema is enforced. This protocol's default is true, that of others is false. Without the
 * client's value, it is true if the schema allows it: every object is closed and requires all its properties.
 */
export function strictOf(tool: JsonObject): boolean {
  const parameters = object(tool['parameters'])
  return boolean(tool['strict']) ?? (parameters !== undefined && closed(parameters))
}

function closed(schema: Json | undefined): boolean {
  if (isList(schema)) return schema.every(closed)
  const value = object(schema)
  if (!value) return true
  const properties = object(value['properties'])
  if (properties || value['type'] === 'object') {
    const required = new Set<Json>(isList(value['required']) ? value['required'] : [])
    const all = Object.keys(properties ?? {}).every((name) => required.has(name))
    if (value['additionalProperties'] !== false || !all) return false
  }
  const inner = [properties, object(value['$defs']), object(value['definitions'])]
  return (
    inner.every((schemas) => Object.values(schemas ?? {}).every(closed)) &&
    closed(value['items']) &&
    closed(value['anyOf'])
  )
}

/** Parses the tool choice. Throws `invalid_value` for an unknown value. */
export function parseToolChoice(choice: Json | undefined): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  const value = object(choice)
  if (!value) throw new GatewayError('invalid_value', { param: 'tool_choice', reason: 'it names no way to choose' })
  const one = toolRef(value)
  if (one) return { type: 'tool', ...one }
  if (value['type'] !== 'allowed_tools')
    return defined({ type: 'opaque' as const, protocol, value, search: isSearch(value) ? (true as const) : undefined })
  const listed = objects(value['tools'])
  const own = listed.filter((tool) => !toolRef(tool))
  return defined({
    type: 'allowed' as const,
    mode: value['mode'] === 'required' ? ('required' as const) : ('auto' as const),
    tools: listed.flatMap((tool) => toolRef(tool) ?? []),
    own: own.length > 0 ? { protocol, tools: own } : undefined,
    search: own.some(isSearch) ? (true as const) : undefined,
  })
}

/** The reference to a callable tool; undefined for a vendor's tool. */
export function toolRef(value: JsonObject): ToolRef | undefined {
  const { type: kind } = value
  const name = text(value['name'])
  const namespace = text(value['namespace'])
  if (name === undefined || (kind !== 'function' && kind !== 'custom')) return undefined
  return namespace === undefined ? { kind, name } : { kind, name, namespace }
}
