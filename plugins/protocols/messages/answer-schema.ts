import { isObject } from '../../../engine/kit.ts'
import type { Losses } from '../../../engine/kit.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'

/** Keywords whose value is a schema, a list of schemas, or a map of them. */
const [one, several, named] = [
  new Set(['items', 'not']),
  new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']),
  new Set(['properties', '$defs', 'definitions']),
]

/** Limits of values, which a schema of an answer may not have. */
const limits = new Set(
  (
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems ' +
    'minProperties maxProperties'
  ).split(' '),
)

const formats: ReadonlySet<Json> = new Set('date-time time date duration email hostname uri ipv4 ipv6 uuid'.split(' '))

/**
 * A schema as its vendor takes it for an answer: objects are closed, and limits of values become a part of the
 * description, as the official client does it (platform.claude.com/docs/en/build-with-claude/structured-outputs). Every
 * answer that fits a closed object also fits the open one. Undefined where an object is open to all names, as a map is:
 * closed, it could only be `{}`.
 */
export function answerSchema(schema: JsonObject, losses: Losses): JsonObject | undefined {
  return hasOpenObject(schema) ? undefined : closed(schema, losses)
}

function closed(schema: JsonObject, losses: Losses): JsonObject {
  const taken: [string, Json | undefined][] = []
  const told: string[] = []
  const inParts = isUndeclared(schema) && isInParts(schema)
  for (const [keyword, value] of Object.entries(schema)) {
    // Only one of the two can be `anyOf`. Under `allOf`, the closed objects of one would forbid those of the other.
    const isSecond = keyword === 'oneOf' && schema['anyOf'] !== undefined
    if (isSecond || isRefused(keyword, value)) told.push(`${keyword}: ${JSON.stringify(value)}`)
    else if (keyword === 'additionalProperties' && value !== false)
      losses.add('response_format.schema.additionalProperties', 'objects of answers are closed here')
    else if (keyword !== 'type' || !inParts)
      taken.push([keyword === 'oneOf' ? 'anyOf' : keyword, inner(keyword, value, (one) => closed(one, losses))])
  }
  if (typesOf(schema).includes('object') && !inParts) taken.push(['additionalProperties', false])
  if (told.length > 0) {
    losses.add('response_format.schema', 'some of its limits are only described to the model')
    const said = typeof schema['description'] === 'string' ? `${schema['description']}\n\n` : ''
    taken.push(['description', `${said}{${told.join(', ')}}`])
  }
  return Object.fromEntries(taken)
}

function hasOpenObject(schema: JsonObject): boolean {
  if (isUndeclared(schema) && !isInParts(schema)) return true
  return Object.entries(schema).some(([keyword, value]) => schemasIn(keyword, value).some(hasOpenObject))
}

/** Whether an object may have properties, but declares none itself. */
function isUndeclared(schema: JsonObject): boolean {
  const { properties, additionalProperties, patternProperties } = schema
  if (!typesOf(schema).includes('object')) return false
  if (additionalProperties === false && patternProperties === undefined) return false
  return !isObject(properties) || Object.keys(properties).length === 0
}

/** Whether the parts of an object also say that it is one: they are closed then, and not what joins them. */
function isInParts(schema: JsonObject): boolean {
  if (schema['$ref'] !== undefined) return true
  const types = typesOf(schema)
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => schemasIn(keyword, schema[keyword]))
  const isTyped = (part: JsonObject) =>
    part['$ref'] !== undefined || (part['type'] !== undefined && typesOf(part).every((type) => types.includes(type)))
  return parts.length > 0 && parts.every(isTyped)
}

function typesOf({ type }: JsonObject): readonly (Json | undefined)[] {
  return [type].flat()
}

function isRefused(keyword: string, value: Json | undefined): boolean {
  if (keyword === 'minItems') return value !== 0 && value !== 1
  return keyword === 'format' ? !formats.has(value ?? null) : limits.has(keyword)
}

/** A value of a keyword, with each schema in it changed. */
function inner(keyword: string, value: Json | undefined, change: (schema: JsonObject) => JsonObject): Json | undefined {
  const taken = <S extends Json | undefined>(schema: S) => (isObject(schema) ? change(schema) : schema)
  if (one.has(keyword)) return taken(value)
  if (several.has(keyword) && Array.isArray(value)) return value.map(taken)
  if (named.has(keyword) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, taken(schema)]))
  return value
}

function schemasIn(keyword: string, value: Json | undefined): readonly JsonObject[] {
  const found: JsonObject[] = []
  inner(keyword, value, (schema) => {
    found.push(schema)
    return schema
  })
  return found
}
