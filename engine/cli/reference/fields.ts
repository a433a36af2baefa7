import type { Schema } from '../../openapi/example-of.ts'
import { durationSchema } from '../../spec/duration.ts'
import type { Json } from '../../spec/json.ts'

/** A field of a configuration, as the reference shows it. */
export interface Field {
  /** Dotted path; `[]` follows the name of a list of objects. */
  readonly path: string
  /** Its type in words. */
  readonly type: string
  readonly required: boolean
  /** Absent: no default. A map whose fields have defaults shows those instead. */
  readonly default?: Json
  readonly description: string
}

/** All fields of an object schema and of nested objects, in the order of declaration. */
export function fieldsOf(schema: Schema, prefix = ''): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const inner = field.properties ? field : field.items?.properties ? field.items : undefined
    const path = `${prefix}${name}`
    const shown: Field = {
      path,
      type: typeOf(field),
      required: schema.required?.includes(name) ?? false,
      ...(field.default === undefined || isEmpty(field.default) ? {} : { default: field.default }),
      description: field.description ?? '',
    }
    return [shown, ...(inner ? fieldsOf(inner, inner === field ? `${path}.` : `${path}[].`) : [])]
  })
}

function typeOf(schema: Schema): string {
  const { type, enum: values, const: value, pattern, minimum, maximum, anyOf, items, additionalProperties } = schema
  if (values)
    return values
      .map((word) => JSON.stringify(word))
      .join(', ')
      .replaceAll('"', '')
  if (value !== undefined) return JSON.stringify(value).replaceAll('"', '')
  if (anyOf && type === undefined) return anyOf.map(typeOf).join(' or ')
  if (pattern === durationSchema.pattern) return 'duration'
  if (type === 'array') return items?.properties ? 'list' : `list of ${items ? typeOf(items) : 'anything'}`
  if (type === 'object')
    return typeof additionalProperties === 'object' ? `map of ${typeOf(additionalProperties)}` : 'map'
  const words = type === undefined ? ['anything'] : ([] as string[]).concat(type).map((word) => names.get(word) ?? word)
  return `${words.join(' or ')}${range(minimum, maximum)}`
}

/** Plain words for JSON Schema types. */
const names = new Map([
  ['string', 'text'],
  ['integer', 'whole number'],
  ['boolean', 'true or false'],
])

function range(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum !== undefined && maximum !== undefined) return `, ${minimum} to ${maximum}`
  if (minimum !== undefined) return `, at least ${minimum}`
  return maximum === undefined ? '' : `, at most ${maximum}`
}

function isEmpty(value: Json): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
