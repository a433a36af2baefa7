import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'

// A schema comes from the client, so a sample must not cost much memory.
const deepest = 8
const mostItems = 4
const longestText = 100

/** A small value that a JSON Schema accepts, by its plain keywords; references are not followed. */
export function sample(schema: Json | undefined, depth = 0): Json {
  if (!isObject(schema) || depth > deepest) return null
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null
  const [choice] = [schema['anyOf'], schema['oneOf']].flatMap((list) => (Array.isArray(list) ? list : []))
  if (choice !== undefined) return sample(choice, depth + 1)
  switch (Array.isArray(schema['type']) ? schema['type'][0] : schema['type']) {
    case 'string':
      return 'x'.repeat(least(schema['minLength'], longestText))
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
    case 'boolean':
      return false
    case 'array':
      return Array.from({ length: least(schema['minItems'], mostItems) }, () => sample(schema['items'], depth + 1))
    case 'null':
      return null
    default:
      return sampleObject(schema, depth)
  }
}

function sampleObject({ properties, required }: JsonObject, depth: number): JsonObject {
  const names = Array.isArray(required) ? required.map(String) : []
  const value = (name: string) => sample(isObject(properties) ? properties[name] : undefined, depth + 1)
  return Object.fromEntries(names.map((name) => [name, value(name)]))
}

function least(value: Json | undefined, limit: number): number {
  return typeof value === 'number' && value > 0 ? Math.min(Math.ceil(value), limit) : 0
}
