import { durationSchema } from '../spec/duration.ts'
import type { Json, JsonObject } from '../spec/json.ts'

/** The keywords of a JSON Schema that examples and the reference read. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly format?: string
  readonly default?: Json
  readonly examples?: readonly Json[]
  readonly enum?: readonly Json[]
  readonly const?: Json
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly required?: readonly string[]
}

/** A value that the schema of an object accepts: its first example, or its defaults, and placeholders for required fields. */
export function exampleOf(schema: Schema): JsonObject {
  const { examples, properties = {}, required: always = [], anyOf: [first] = [] } = schema
  if (examples?.[0] !== undefined) return examples[0] as JsonObject
  const required = [...always, ...(first?.required ?? [])]
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]): [string, Json][] => {
      if (field.default !== undefined) return [[name, field.default]]
      return required.includes(name) || field.examples !== undefined ? [[name, standIn(name, field)]] : []
    }),
  )
}

function standIn(name: string, schema: Schema): Json {
  const { examples, const: value, enum: values, format, pattern, minimum, minItems = 0, items = {} } = schema
  const [choice] = schema.anyOf ?? schema.oneOf ?? []
  const [given = value ?? values?.[0]] = examples ?? []
  if (given !== undefined) return given
  const type = [schema.type].flat()[0]
  if (type === undefined && choice !== undefined) return standIn(name, choice)
  switch (type) {
    case 'integer':
    case 'number':
      return minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return Array.from({ length: minItems }, () => standIn(name, items))
    case 'object':
      return exampleOf(schema)
    default:
      if (format === 'date-time') return '2027-01-31T12:00:00Z'
      if (pattern === durationSchema.pattern) return '60s'
      return name.endsWith('url') ? 'https://api.example.com/v1' : `my-${name}`
  }
}
