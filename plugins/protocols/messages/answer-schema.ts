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
 * answer that fits a closed object also fits the open one.
 */
export function answerSchema(schema: JsonObject, losses: Losses): JsonObject {
  const taken: [string, Json | undefined][] = []
  const told: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (isRefused(keyword, value)) told.push(`${keyword}: ${JSON.stringify(value)}`)
    else if (keyword === 'additionalProperties' && value !== false)
      losses.add('response_format.schema.additionalProperties', 'objects of answers are closed here')
    else taken.push([keyword === 'oneOf' ? 'anyOf' : keyword, inner(keyword, value, losses)])
  }
  if ([schema['type']].flat().includes('object')) taken.push(['additionalProperties', false])
  if (told.length > 0) {
    losses.add('response_format.schema', 'limits of values are only described to the model')
    const said = typeof schema['description'] === 'string' ? `${schema['description']}\n\n` : ''
    taken.push(['description', `${said}{${told.join(', ')}}`])
  }
  return Object.fromEntries(taken)
}

function isRefused(keyword: string, value: Json | undefined): boolean {
  if (keyword === 'minItems') return value !== 0 && value !== 1
  return keyword === 'format' ? !formats.has(value ?? null) : limits.has(keyword)
}

function inner(keyword: string, value: Json | undefined, losses: Losses): Json | undefined {
  const taken = <S extends Json | undefined>(schema: S) => (isObject(schema) ? answerSchema(schema, losses) : schema)
  if (one.has(keyword)) return taken(value)
  if (several.has(keyword) && Array.isArray(value)) return value.map(taken)
  if (named.has(keyword) && isObject(value))
    return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, taken(schema)]))
  return value
}
