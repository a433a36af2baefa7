import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'

/** Words that titles write in another way than names of fields. */
const spelled: Readonly<Record<string, string>> = {
  api: 'API',
  http: 'HTTP',
  id: 'ID',
  mcp: 'MCP',
  sse: 'SSE',
  tcp: 'TCP',
  ttl: 'TTL',
  url: 'URL',
  urls: 'URLs',
  usd: 'USD',
}

/**
 * The schema of a form: every field has a `title`, its own or one made of its name, and secret fields are `writeOnly`.
 * @param secrets names of fields with secret values, at any depth; the values of `headers` are always secret
 */
export function formOf(schema: unknown, secrets: readonly string[] = []): JsonObject {
  return withFields(schema as JsonObject, new Set(secrets))
}

function withFields(schema: JsonObject, secrets: ReadonlySet<string>): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value = null]): [string, Json] => {
    if (keyword === 'properties' && isObject(value))
      return [
        keyword,
        Object.fromEntries(Object.entries(value).map(([name, field = null]) => [name, titled(name, field, secrets)])),
      ]
    return [keyword, nested.has(keyword) && isObject(value) ? withFields(value, secrets) : value]
  })
  return Object.fromEntries(entries)
}

/** Keywords whose value is a schema for nested values. */
const nested = new Set(['items', 'additionalProperties'])

function titled(name: string, field: Json, secrets: ReadonlySet<string>): Json {
  if (!isObject(field)) return field
  const form: JsonObject = { title: titleOf(name), ...withFields(field, secrets) }
  if (secrets.has(name)) return { ...form, ...secret(form) }
  const { additionalProperties: values } = form
  return name === 'headers' && isObject(values)
    ? { ...form, additionalProperties: { ...values, writeOnly: true } }
    : form
}

/** A secret field, or a list of secrets. */
function secret({ items }: JsonObject): JsonObject {
  return isObject(items) ? { items: { ...items, writeOnly: true } } : { writeOnly: true }
}

/** `base_url`: "Base URL". */
function titleOf(name: string): string {
  const words = name.split('_').map((word) => spelled[word] ?? word)
  const text = words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
