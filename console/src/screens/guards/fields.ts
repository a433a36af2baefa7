import { fieldsOf } from '../../form/schema.ts'
import type { Field, Json, Schema } from '../../form/schema.ts'
import type { Guard, Kind } from './api.ts'
import { words } from './words.ts'

/** Fields of every guard that are shown at once; the others are folded while they are at their defaults. */
const first = ['name', 'action', 'mask', 'side', 'shadow', 'message']

type Body = { readonly [name: string]: Json }

/** Patterns with and without a name are rows alike; a pattern is shown as it is, without the escapes of JSON. */
const patterns: Schema = {
  type: 'object',
  required: ['pattern'],
  properties: {
    pattern: { type: 'string', title: words.pattern },
    name: { type: 'string', title: words.patternName, description: words.patternNameHint },
  },
}

/** The fields of a guard of a kind: its name while it is made, those of the kind, those of every guard. */
export function guardFields({ kind, schema }: Kind, isNew: boolean): readonly Field[] {
  const { config = {}, ...common } = schema.properties ?? {}
  const own = Object.entries(config.properties ?? {}).map(([name, field]): [string, Schema] => [
    name,
    kind === 'regex' && name === 'patterns' ? { ...field, items: patterns } : field,
  ])
  const ofKind = fieldsOf({ ...config, properties: Object.fromEntries(own) }, 'config')
  const shared = fieldsOf({ properties: common, required: ['name'] })
    .filter(({ name }) => name !== 'enabled' && (name !== 'allow_private' || config.properties?.['url'] !== undefined))
    .map((field) => ({ ...field, advanced: !first.includes(field.name) }))
  const name = shared.filter((field) => isNew && field.name === 'name')
  const others = shared.filter((field) => field.name !== 'name')
  return [...name, ...ofKind, ...others]
}

/** The values of a guard at the paths of its fields, without those that are the usual ones. */
export function valuesOf(guard: Guard, fields: readonly Field[]): Json {
  const { config = {}, on_error: onError } = guard
  const record = guard as unknown as Body
  const common = fields.flatMap(({ path, name, schema }): (readonly [string, Json])[] => {
    const value = record[name] ?? null
    if (path !== name || (name === 'on_error' && onError === usualOnErrorOf(guard))) return []
    return first.includes(name) || !isUsual(value, schema) ? [[name, value]] : []
  })
  return { ...Object.fromEntries(common), config: withRows(config) }
}

/** What follows where nothing is set, when it cannot judge. */
export const usualOnErrorOf = ({ action, shadow }: Guard): Guard['on_error'] =>
  action === 'flag' || shadow ? 'open' : 'closed'

function isUsual(value: Json, { default: usual, properties }: Schema): boolean {
  if (properties && typeof value === 'object' && value !== null)
    return Object.entries(value).every(([name, inner]) => isUsual(inner, properties[name] ?? {}))
  return value === null || JSON.stringify(value) === JSON.stringify(usual)
}

/** The fields of a kind as the form has them. */
function withRows(config: Body): Body {
  const { patterns: given } = config
  if (!Array.isArray(given)) return config
  return { ...config, patterns: given.map((one: Json) => (typeof one === 'string' ? { pattern: one } : one)) }
}

/** What a form sends as the API takes it: a pattern without a name is a text. */
export function bodyWith(body: Body): Body {
  const config = body['config'] as Body | undefined
  if (!Array.isArray(config?.['patterns'])) return body
  const rows = config['patterns'].map((row: Json) => {
    const { name, pattern = '' } = row as Body
    return name === undefined || name === null || name === '' ? pattern : row
  })
  return { ...body, config: { ...config, patterns: rows } }
}
