import type { Json, Schema } from '../api/json.ts'

export type { Json, Schema } from '../api/json.ts'

/** How a field is drawn; `json` is a text of JSON, for whatever has no better way. */
export type Kind =
  | 'text'
  | 'long'
  | 'address'
  | 'duration'
  | 'moment'
  | 'secret'
  | 'secrets'
  | 'number'
  | 'switch'
  | 'choice'
  | 'tags'
  | 'boxes'
  | 'rows'
  | 'map'
  | 'group'
  | 'variants'
  | 'json'

export interface Field {
  /** The names from the top, joined by dots, as the API's errors have them: `retries.tries`. */
  readonly path: string
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly kind: Kind
  readonly schema: Schema
  readonly required: boolean
  /** Whether it may be "Not set". */
  readonly nullable: boolean
  /** Shown only on demand: it need not be given, and is at its default. */
  readonly advanced: boolean
  readonly readOnly: boolean
  readonly options: readonly Json[]
  /** The fields of a group. */
  readonly fields: readonly Field[]
  /** One entry of `rows` or of a `map`; its path is empty. */
  readonly item: Field | null
  /** What can be chosen of `variants`, each with the fields that follow. */
  readonly variants: readonly { readonly value: Json; readonly fields: readonly Field[] }[]
}

/** What every kind of field takes from its schema. */
const everywhere = ['type', 'title', 'description', 'default', 'readOnly', 'x-setting', 'x-place']
/** Rules that the gateway alone checks; they change nothing about how a field is drawn. */
const checked = ['anyOf', 'anyOfErrorMessage', 'not', 'if', 'then', 'dependentSchemas', 'allOf', 'uniqueItems']
const sizes = ['minItems', 'maxItems', 'minProperties', 'maxProperties', 'propertyNames']
const texts = ['minLength', 'maxLength', 'pattern', 'patternErrorMessage', 'format', 'writeOnly']

const shapes = ['enum', 'const', 'oneOf', 'properties', 'required', 'additionalProperties', 'items', 'x-names']
const bounds = ['minimum', 'maximum', 'exclusiveMinimum', 'x-decimals', 'x-minimum', 'x-maximum', 'x-unit', 'x-null']

const drawn = new Set([everywhere, checked, sizes, texts, shapes, bounds].flat())

/** The fields of an object's schema, in its order. */
export function fieldsOf(schema: Schema, path = ''): readonly Field[] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).map(([name, property]) =>
    fieldOf(property, path === '' ? name : `${path}.${name}`, required.has(name)),
  )
}

/** Fields and those inside of them, in order. */
export const withInner = (fields: readonly Field[]): readonly Field[] =>
  fields.flatMap((field) => [field, ...withInner(field.fields)])

/** The field that a schema becomes. */
export function fieldOf(schema: Schema, path: string, required = false): Field {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const types = typesOf(schema)
  const nullable = types.includes('null') || (schema.enum?.includes(null) ?? false)
  const kind = kindOf(schema)
  return {
    path,
    name,
    label: schema.title ?? titled(name),
    hint: schema.description ?? '',
    kind,
    schema,
    required,
    nullable,
    advanced: !required && schema.default !== undefined,
    readOnly: schema.readOnly ?? false,
    options: optionsOf(kind === 'boxes' ? schema.items : schema),
    fields: kind === 'group' ? fieldsOf(schema, path) : [],
    item: itemOf(schema, kind),
    variants: kind === 'variants' ? variantsOf(schema, path) : [],
  }
}

const typesOf = ({ type = [] }: Schema): readonly string[] => [type].flat()

const optionsOf = (schema: Schema | undefined) => (schema?.enum ?? []).filter((option) => option !== null)

/** `max_event_bytes` as a label, where a schema has no title. */
const titled = (name: string) => (name.slice(0, 1).toUpperCase() + name.slice(1)).replaceAll('_', ' ')

/** How a schema is drawn. A keyword that is not known here makes a text of JSON, so that nothing is left out silently. */
export function kindOf(schema: Schema): Kind {
  if (Object.keys(schema).some((keyword) => !drawn.has(keyword))) return 'json'
  if (schema.oneOf) return discriminatorOf(schema) === undefined ? 'json' : 'variants'
  if (schema.enum) return 'choice'
  const types = typesOf(schema).filter((type) => type !== 'null')
  if (types.length !== 1) return 'json'
  switch (types[0]) {
    case 'string':
      return textKind(schema)
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'switch'
    case 'array':
      return listKind(schema)
    case 'object':
      return objectKind(schema)
    default:
      return 'json'
  }
}

/** The way the product writes durations; a pattern that takes these and no others is one. */
const isDuration = ({ pattern = '' }: Schema) => pattern.includes('(ms|s|m|h|d)$')

function textKind(schema: Schema): Kind {
  if (schema.writeOnly) return 'secret'
  if (isDuration(schema)) return 'duration'
  if (schema.format === 'date-time') return 'moment'
  if (schema.format === 'uri') return 'address'
  return (schema.maxLength ?? 0) > 200 && schema['x-names'] === undefined && !schema.pattern ? 'long' : 'text'
}

function listKind({ items }: Schema): Kind {
  if (!items) return 'json'
  const kind = kindOf(items)
  if (kind === 'choice') return 'boxes'
  if (kind === 'text' || kind === 'long' || kind === 'address') return 'tags'
  return kind === 'json' ? 'json' : 'rows'
}

function objectKind({ properties, additionalProperties }: Schema): Kind {
  const open = typeof additionalProperties === 'object'
  // Fields beside names of one's own have no place to stand in one row.
  if (properties) return open ? 'json' : 'group'
  const kind = open ? kindOf(additionalProperties) : 'json'
  if (kind === 'secret') return 'secrets'
  return kind === 'json' ? 'json' : 'map'
}

function itemOf({ items, additionalProperties }: Schema, kind: Kind): Field | null {
  if (kind === 'rows' && items) return fieldOf(items, '')
  if (kind === 'map' && typeof additionalProperties === 'object') return fieldOf(additionalProperties, '')
  return null
}

/** The property that every branch of a `oneOf` holds a constant for. */
export function discriminatorOf({ oneOf = [] }: Schema): string | undefined {
  const [first] = oneOf
  return Object.keys(first?.properties ?? {}).find((name) =>
    oneOf.every(({ properties }) => properties?.[name]?.const !== undefined),
  )
}

function variantsOf(schema: Schema, path: string): Field['variants'] {
  const name = discriminatorOf(schema) ?? ''
  return (schema.oneOf ?? []).map((branch) => ({
    value: branch.properties?.[name]?.const ?? null,
    fields: fieldsOf(branch, path).filter((field) => field.name !== name),
  }))
}
