import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'

/** A way to make a body invalid: where it applies, and the body it makes. */
export interface Spoiler {
  readonly what: string
  readonly body: Json
}

/** One of each kind of value, by the word of JSON Schema. */
const samples: Readonly<Record<string, Json>> = {
  null: null,
  boolean: true,
  number: 7,
  string: 'x',
  array: [],
  object: {},
}

/**
 * All single changes after which `body`, which `schema` accepts, is accepted no more: at every place a value of a wrong
 * type, an unknown or a missing field, a word that is none of those allowed, a length out of bounds.
 */
export function spoilersOf(schema: JsonObject, body: Json): readonly Spoiler[] {
  return [...spoil(schema, body, '')]
}

function* spoil(schema: JsonObject, value: Json, at: string): Generator<Spoiler> {
  const rules = applying(schema, value)
  const here = (what: string, changed: Json): Spoiler => ({ what: `${what} at ${at || 'the top'}`, body: changed })
  for (const [type, sample] of Object.entries(samples))
    if (!allows(rules, type)) yield here(`a value of type ${type}`, sample)
  if (Array.isArray(rules['enum']) || rules['const'] !== undefined) yield here('another word', 'some other word')
  if (typeof rules['minLength'] === 'number' && value !== '') yield here('an empty text', '')
  if (Array.isArray(value)) yield* spoilList(rules, value, at, here)
  else if (isObject(value)) yield* spoilObject(rules, value, at, here)
}

type Here = (what: string, changed: Json) => Spoiler

function* spoilList(rules: JsonObject, value: readonly Json[], at: string, here: Here): Generator<Spoiler> {
  const { minItems, maxItems, items } = rules
  if (typeof minItems === 'number') yield here('too few items', value.slice(0, minItems - 1))
  if (typeof maxItems === 'number' && value[0] !== undefined)
    yield here(
      'too many items',
      Array.from({ length: maxItems + 1 }, () => value[0] as Json),
    )
  if (!isObject(items)) return
  for (const [index, item] of value.entries())
    for (const { what, body } of spoil(items, item, `${at}[${index}]`)) yield { what, body: value.with(index, body) }
}

function* spoilObject(rules: JsonObject, value: JsonObject, at: string, here: Here): Generator<Spoiler> {
  const { required, properties, additionalProperties: others, minProperties, maxProperties } = rules
  const known = isObject(properties) ? properties : {}
  for (const field of Array.isArray(required) ? required : []) yield here(`no ${field}`, without(value, String(field)))
  if (others === false)
    for (const field of ['unknown', '__proto__', 'Type', ''])
      yield here(`an unknown field "${field}"`, Object.fromEntries([...Object.entries(value), [field, 'x']]))
  if (typeof minProperties === 'number') yield here('too few fields', {})
  if (typeof maxProperties === 'number') {
    const many = Array.from({ length: maxProperties + 1 }, (_, index) => [`field ${index}`, Object.values(value)[0]])
    yield here('too many fields', Object.fromEntries(many))
  }
  for (const [field, inner] of Object.entries(value)) {
    const schema = known[field] ?? others
    if (!isObject(schema)) continue
    for (const { what, body } of spoil(schema, inner as Json, `${at}.${field}`))
      yield { what, body: { ...value, [field]: body } }
  }
}

/** The keywords that apply to a value: those of the schema, and of its conditions that are met. */
function applying(schema: JsonObject, value: Json): JsonObject {
  const conditions = Array.isArray(schema['allOf']) ? schema['allOf'].filter(isObject) : []
  const met = conditions.filter(({ if: condition }) => isObject(condition) && meets(condition, value))
  return met.reduce<JsonObject>((rules, { then }) => {
    const more = isObject(then) ? then : {}
    // The type that tells the kinds apart keeps the list of all of them.
    const kept = { ...(more['properties'] as JsonObject), ...(rules['properties'] as JsonObject | undefined) }
    return { ...rules, ...more, properties: kept }
  }, schema)
}

function meets({ properties }: JsonObject, value: Json): boolean {
  if (!isObject(value) || !isObject(properties)) return false
  return Object.entries(properties).every(
    ([field, rule]) => isObject(rule) && value[field] !== undefined && value[field] === rule['const'],
  )
}

function allows({ type, enum: words, const: only }: JsonObject, name: string): boolean {
  if (Array.isArray(words) || only !== undefined) return name === 'string'
  return type === undefined || [type].flat().includes(name)
}

function without(value: JsonObject, field: string): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== field))
}
