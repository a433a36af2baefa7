import { isDeepStrictEqual } from 'node:util'
import type { Registry } from '../config/registry.ts'
import { namedSecrets, secretNames } from './secrets.ts'
import { secretsOfSetting } from './sections.ts'
import { typeField, typesOf } from './records.ts'
import { flat, nested } from './stored-records.ts'
import { GatewayError } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { ProviderType } from '../spec/open-provider.ts'
import type { AnyRecord } from '../spec/record.ts'
import { upstreamProperties } from '../config/upstream-settings.ts'
import type { Configuration } from './configuration.ts'

type Decides = (field: string) => boolean

/** A change of a stored value; its patch has the fields of its type below `config`, as the values have. */
interface Moving {
  readonly type: string
  readonly name: string
  readonly before: JsonObject
  readonly after: JsonObject
  readonly patch: JsonObject
}

/**
 * The refusal of a change after which a secret would go to another place; undefined: none would, or the change contains
 * them all. Whoever may change an address could otherwise send himself secrets that he cannot read.
 */
export function refusalOfMove(change: Moving, { registry }: Configuration): GatewayError | undefined {
  const { name, before, after, patch } = change
  const type = registry.records.get(change.type)
  // A section of the settings has no record type.
  if (type === undefined) {
    const fields = Object.keys(after).flatMap((field) => secretsOfSetting(name, field, registry.services) ?? [])
    const isMoved = !isDeepStrictEqual(placesIn(before), placesIn(after))
    return isMoved ? refusalOf(after, patch, new Set(fields)) : undefined
  }
  const secrets = secretNames(type, after, registry)
  const goal = goalOf(type, registry)
  if (!secrets || isDeepStrictEqual(goal(nested(type, flat(type, before))), goal(after))) return undefined
  return refusalOf(after, patch, secrets)
}

/**
 * The patch of a section, in which entries of lists keep the secrets that they leave out: nobody is shown them, and a
 * list is replaced whole. An entry is known by its name. One that gets another address keeps none. Null takes a secret
 * away.
 */
export function withKeptSecrets(
  { name, patch }: { readonly name: string; readonly patch: JsonObject },
  before: JsonObject = {},
  { registry }: Configuration,
): JsonObject {
  const fields = Object.entries(patch).map(([field, value = null]): [string, Json] => {
    const secrets = secretsOfSetting(name, field, registry.services) ?? []
    if (!Array.isArray(value) || secrets.length === 0) return [field, value]
    const old = before[field]
    const known = Array.isArray(old) ? old.filter(isObject) : []
    return [field, (value as readonly Json[]).map((entry) => withKept(entry, known, secrets))]
  })
  return Object.fromEntries(fields)
}

function withKept(entry: Json, known: readonly JsonObject[], secrets: readonly string[]): Json {
  if (!isObject(entry)) return entry
  const before = known.find(({ name }) => name !== undefined && name === entry['name']) ?? {}
  const left = secrets.filter((field) => entry[field] === undefined && before[field] !== undefined)
  const after = { ...entry, ...Object.fromEntries(left.map((field) => [field, before[field] ?? null])) }
  const kept = isDeepStrictEqual(placesIn(after), placesIn(before)) ? after : entry
  return Object.fromEntries(Object.entries(kept).filter(([field, value]) => value !== null || !secrets.includes(field)))
}

/** The refusal that names the secrets which a change keeps and does not contain; undefined: there are none. */
function refusalOf(after: JsonObject, patch: JsonObject, secrets: ReadonlySet<string>): GatewayError | undefined {
  const given = new Set(namedSecrets(patch, secrets))
  const kept = namedSecrets(after, secrets).filter((path) => !given.has(path))
  // A list is replaced whole.
  const params = [...new Set(kept.map((path) => path.split('[', 1).join()))]
  const [param] = params
  if (param === undefined) return undefined
  const errors = params.map((one) => {
    const { message } = new GatewayError('secret_required', { param: one })
    return { param: one, code: 'secret_required', message }
  })
  return new GatewayError('secret_required', { param }, { param, errors })
}

/** A function that collects what decides where the secrets of a record go. */
function goalOf(type: AnyRecord, registry: Registry) {
  const { destinations = [], typed } = type
  const decides: Decides = (field) => destinations.includes(field)
  return ({ config, ...own }: JsonObject): readonly string[] => {
    const word = own[typeField(type)]
    const component = typed !== undefined && typeof word === 'string' ? typesOf(type, registry).get(word) : undefined
    const below = isObject(config) ? placesIn(config, component ? decidesIn(component) : decides) : []
    return [...placesIn(own, decides), ...below]
  }
}

/**
 * Whether a field of a provider decides where its secrets go. If its type does not say, every field may, except the
 * ones of every provider over HTTP, which do not.
 */
function decidesIn({ destinations, secrets = [] }: Pick<ProviderType, 'destinations' | 'secrets'>): Decides {
  return (field) =>
    destinations?.includes(field) ?? !(secrets.includes(field) || Object.hasOwn(upstreamProperties, field))
}

/**
 * What decides where secrets go: all values of the fields that decide, and the scheme, host and port of addresses in the
 * others, except in headers, which go where the rest says.
 */
function placesIn(value: JsonObject, decides: Decides = () => false): string[] {
  return Object.entries(value)
    .filter(([field]) => field !== 'headers')
    .flatMap(([field, inner = null]) => leavesIn(inner, field, decides(field)))
    .toSorted()
}

function leavesIn(value: Json, path: string, all: boolean): string[] {
  if (isObject(value) || Array.isArray(value))
    return Object.entries(value).flatMap(([name, member = null]) => leavesIn(member as Json, `${path}.${name}`, all))
  const url = typeof value === 'string' && value.includes('://') ? URL.parse(value) : null
  if (url) return [`${path}=${url.protocol}//${url.host}`]
  return all && value !== null ? [`${path}=${JSON.stringify(value)}`] : []
}
