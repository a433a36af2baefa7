import type { Json, JsonObject, Tool, ToolChoice } from '../../../engine/index.ts'
import { asText, isObject } from '../../../engine/kit.ts'
import { protocol } from './wire.ts'

/** A function as a client declares it. */
interface Declaration extends JsonObject {
  readonly name: string
  readonly description?: string | null
  readonly parameters?: JsonObject | null
  readonly parametersJsonSchema?: JsonObject | null
}

/** The tools of a request: each function, and each tool that the vendor runs. */
export function parseTools(tools: readonly JsonObject[]): readonly Tool[] {
  return tools.flatMap(({ functionDeclarations: declared, ...others }): Tool[] => [
    ...(Array.isArray(declared) ? (declared as Declaration[]).map(functionTool) : []),
    ...Object.entries(others)
      .filter(([, value]) => isObject(value))
      .map(([name, value = null]) => ownTool({ [name]: value })),
  ])
}

function functionTool({ name, description, parameters, parametersJsonSchema, ...others }: Declaration): Tool {
  const schema = parametersJsonSchema ?? (parameters ? jsonSchema(parameters) : undefined)
  const rest = Object.entries(others).filter(([, value]) => value !== null && value !== undefined)
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' ? { description } : {}),
    ...(schema ? { parameters: schema } : {}),
    ...(rest.length > 0 ? { rest: { protocol, fields: Object.fromEntries(rest) } } : {}),
  }
}

function ownTool(value: JsonObject): Tool {
  return { type: 'opaque', protocol, value, ...(value.googleSearch === undefined ? {} : { search: {} }) }
}

/** The choice of `toolConfig`; undefined if it says none. */
export function parseChoice(config: JsonObject): ToolChoice | undefined {
  const { functionCallingConfig: calling } = config
  if (!isObject(calling)) return undefined
  const { mode, allowedFunctionNames: named } = calling
  const tools = (Array.isArray(named) ? named : []).map((name) => ({ kind: 'function' as const, name: asText(name) }))
  switch ((asText(mode) || 'AUTO').toUpperCase()) {
    case 'MODE_UNSPECIFIED':
    case 'AUTO':
      return { type: 'auto' }
    case 'NONE':
      return { type: 'none' }
    case 'ANY': {
      const [only, ...others] = tools
      if (!only) return { type: 'required' }
      return others.length === 0 ? { type: 'tool', ...only } : { type: 'allowed', mode: 'required', tools }
    }
    default:
      return { type: 'opaque', protocol, value: calling }
  }
}

/** Members of a schema that hold schemas, lists of them, or maps of them. */
const nested = new Set(['items', 'additionalProperties'])
const listed = new Set(['anyOf', 'prefixItems'])
const mapped = new Set(['properties', '$defs', 'defs'])
/** Bounds that the vendor writes as text, because they have 64 bits. */
const bounds = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'])

/**
 * A `Schema` of the vendor (ai.google.dev/api/caching#Schema), a subset of OpenAPI, as JSON Schema: types in lower case,
 * `nullable` as a type, bounds as numbers.
 */
export function jsonSchema(schema: JsonObject): JsonObject {
  const { nullable, type, propertyOrdering: _, example: __, ...others } = schema
  const kind = typeof type === 'string' && type !== 'TYPE_UNSPECIFIED' ? type.toLowerCase() : undefined
  return {
    ...(kind === undefined ? {} : { type: nullable === true ? [kind, 'null'] : kind }),
    ...Object.fromEntries(Object.entries(others).map(([name, value = null]) => [name, member(name, value)])),
  }
}

function member(name: string, value: Json): Json {
  if (nested.has(name) && isObject(value)) return jsonSchema(value)
  if (listed.has(name) && Array.isArray(value)) return value.map((one: Json) => (isObject(one) ? jsonSchema(one) : one))
  if (mapped.has(name) && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, one = null]) => [key, isObject(one) ? jsonSchema(one) : one]),
    )
  return bounds.has(name) && typeof value === 'string' ? Number(value) : value
}
