import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import { credentialsOf, isPlain, secretsOfAddress } from '../secrets/redaction.ts'
import type { StoredRecord } from '../store/records.ts'
import { typeField, typesOf } from './records.ts'
import type { CheckedRecord } from './records.ts'
import type { Registry } from '../config/registry.ts'
import { sectionType, secretsOfSetting, settingsOf } from './sections.ts'
import type { ProviderSettings, Settings } from '../config/settings.ts'

/**
 * All secret texts in a configuration: the fields that providers, services and records declare as secret, the values of
 * `headers`, and credentials in addresses. Media types, versions and the like are excluded: redacting them would make
 * error messages unreadable.
 */
export function secretsOf(
  {
    providers,
    server_config: sections,
  }: Pick<Settings, 'server_config'> & {
    readonly providers: readonly Pick<ProviderSettings, 'type' | 'config'>[]
  },
  registry: Pick<Registry, 'providers' | 'services'>,
  records: ReadonlyMap<string, readonly Pick<CheckedRecord, 'type' | 'value'>[]> = new Map(),
): readonly string[] {
  const ofProviders = providers.flatMap(({ type, config }) =>
    secretsIn(config, new Set(registry.providers.get(type)?.secrets)),
  )
  const ofServices = [...registry.services.values()].flatMap((service) =>
    secretsIn(settingsOf(service, sections), new Set(service.secrets)),
  )
  const ofRecords = [...records.values()].flatMap((list) =>
    list.flatMap(({ type, value }) => secretsIn(value, new Set(type.secrets))),
  )
  return [...ofProviders, ...ofServices, ...ofRecords]
}

/**
 * All secret texts in stored records, valid or not. If it is unknown which fields are secret, all texts count except
 * addresses.
 */
export function secretsOfStored(
  stored: readonly Pick<StoredRecord, 'type' | 'name' | 'value'>[],
  registry: Registry,
): readonly string[] {
  return stored.flatMap(({ type: word, name: record, value = {} }) => {
    if (word === sectionType)
      return Object.entries(value).flatMap(([field, inner = null]) => {
        const named = secretsOfSetting(record, field, registry.services)
        return named ? secretsIn({ [field]: inner }, new Set(named)) : textsIn(inner)
      })
    const type = registry.records.get(word)
    const named = type && secretNames(type, value, registry)
    if (named) return secretsIn(value, named)
    const { name: _name, type: _type, ...rest } = value
    return textsIn(rest)
  })
}

function textsIn(value: Json): string[] {
  return leavesOf(value).flatMap(({ text }) => (text.includes('://') ? [...credentialsOf(text)] : [text]))
}

/** A section without its secrets, and the secrets by dotted path. Unknown settings are in neither. */
export function openSection(
  name: string,
  section: JsonObject,
  { services }: Pick<Registry, 'services'>,
): ReturnType<typeof withoutSecrets> {
  const parts = Object.entries(section).flatMap(([field, value = null]) => {
    const named = secretsOfSetting(name, field, services)
    return named ? [withoutSecrets({ [field]: value }, new Set(named))] : []
  })
  return {
    open: Object.assign({}, ...parts.map(({ open }) => open)) as JsonObject,
    secrets: Object.assign({}, ...parts.map(({ secrets }) => secrets)) as Record<string, string>,
  }
}

/**
 * The secret fields of a record, according to its type and to the component that its `type` names; undefined if that
 * component is missing, so that the secret fields are unknown.
 */
export function secretNames(type: AnyRecord, value: JsonObject, registry: Registry): ReadonlySet<string> | undefined {
  const own = type.secrets ?? []
  if (type.typed === undefined) return new Set(own)
  const word = value[typeField(type)]
  const component = typeof word === 'string' ? typesOf(type, registry).get(word) : undefined
  return component && new Set([...own, ...(component.secrets ?? [])])
}

/** A value without its secrets, and the secrets as text by dotted path. A secret removed from a list leaves `null`. */
export function withoutSecrets(
  value: JsonObject,
  named: ReadonlySet<string>,
): { readonly open: JsonObject; readonly secrets: Readonly<Record<string, string>> } {
  const found: Found[] = []
  const open = openObject(value, named, '', found)
  return { open, secrets: Object.fromEntries(found.map(({ path, text }) => [path, text])) }
}

/**
 * The paths of the secrets in a value that go where other fields say: not those in addresses, which go to the address
 * they stand in.
 */
export function namedSecrets(value: JsonObject, named: ReadonlySet<string>): readonly string[] {
  const found: Found[] = []
  openObject(value, named, '', found)
  return found.filter((one) => one.in !== 'address').map(({ path }) => path)
}

function secretsIn(config: JsonObject, named: ReadonlySet<string>): string[] {
  const found: Found[] = []
  openObject(config, named, '', found)
  return found.flatMap(({ text, in: place, header = '' }) => {
    if (place === 'header') return isPlain(header, text) ? [] : secretsOfHeader(text)
    return place === 'address' ? [...credentialsOf(text)] : [...(secretsOfAddress(text) ?? [text])]
  })
}

/** A secret and its path. */
interface Found {
  readonly path: string
  readonly text: string
  readonly in: 'field' | 'header' | 'address'
  /** The name of a header. */
  readonly header?: string
}

function openObject(value: JsonObject, named: ReadonlySet<string>, path: string, found: Found[]): JsonObject {
  const open = Object.entries(value).flatMap(([name, inner = null]): [string, Json][] => {
    const at = path === '' ? name : `${path}.${name}`
    if (named.has(name)) {
      found.push(...leavesOf(inner, at))
      return []
    }
    const member =
      name === 'headers' && isObject(inner) ? openHeaders(inner, at, found) : openMember(inner, named, at, found)
    return member === undefined ? [] : [[name, member]]
  })
  return Object.fromEntries(open)
}

function openHeaders(headers: JsonObject, path: string, found: Found[]): JsonObject {
  const secret = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [{ name, value }] : [],
  )
  found.push(
    ...secret.map(({ name, value }) => ({ path: `${path}.${name}`, text: value, in: 'header' as const, header: name })),
  )
  const rest = new Map(Object.entries(headers))
  for (const { name } of secret) rest.delete(name)
  return openObject(Object.fromEntries(rest), new Set(), path, found)
}

/** Undefined: the member itself is secret. */
function openMember(value: Json, named: ReadonlySet<string>, path: string, found: Found[]): Json | undefined {
  if (isObject(value)) return openObject(value, named, path, found)
  if (Array.isArray(value))
    return (value as readonly Json[]).map((item, at) => openMember(item, named, `${path}[${at}]`, found) ?? null)
  if (typeof value !== 'string' || credentialsOf(value).length === 0) return value
  found.push({ path, text: value, in: 'address' })
  return undefined
}

/** Every text, number and boolean in a value, as text. */
function leavesOf(value: Json, path = ''): Found[] {
  if (value === null) return []
  if (typeof value !== 'object') return [{ path, text: String(value), in: 'field' }]
  return Object.entries(value).flatMap(([name, member = null]) =>
    leavesOf(member, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`),
  )
}

/**
 * The secrets in a header value: the whole value, the part after the scheme, and the password of basic credentials (RFC
 * 7617).
 */
function secretsOfHeader(value: string): string[] {
  const [scheme = '', ...rest] = value.split(' ')
  const credentials = rest.join(' ')
  if (scheme.toLowerCase() !== 'basic') return [value, credentials]
  const [, ...password] = Buffer.from(credentials, 'base64').toString().split(':')
  return [value, credentials, password.join(':')]
}
