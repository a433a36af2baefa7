import type { Json, JsonObject } from '../../spec/json.ts'
import type { Schema } from './fields.ts'

/** A configuration that the schema accepts: its first example, or its defaults, and placeholders for required fields. */
export function exampleOf({
  examples,
  properties = {},
  required: always = [],
  anyOf: [first] = [],
}: Schema): JsonObject {
  if (examples?.[0]) return examples[0]
  const required = [...always, ...(first?.required ?? [])]
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]): [string, Json][] => {
      if (field.default !== undefined) return [[name, field.default]]
      return required.includes(name) ? [[name, standIn(name, field)]] : []
    }),
  )
}

function standIn(name: string, { type, enum: values, minimum, properties, required }: Schema): Json {
  if (values) return values[0] ?? null
  switch (type) {
    case 'integer':
    case 'number':
      return minimum ?? 1
    case 'boolean':
      return true
    case 'array':
      return []
    case 'object':
      return exampleOf({ ...(properties ? { properties } : {}), ...(required ? { required } : {}) })
    default:
      return name.endsWith('url') ? 'https://api.example.com/v1' : `my-${name}`
  }
}
