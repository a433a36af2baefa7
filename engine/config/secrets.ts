import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { AnyRecord } from '../spec/record.ts'
import { credentialsOf, isPlain } from '../store/redaction.ts'
import type { CheckedRecord } from './records.ts'
import type { Registry } from './registry.ts'
import { settingsOf } from './sections.ts'
import type { Settings } from './settings.ts'

/**
 * The texts in a configuration that nobody may see: API keys and, of providers, services and records, what they call secret, the values
 * of `headers` and the credentials in addresses. Media types, versions and the like are no secrets: hiding them would
 * make the words of errors unreadable.
 */
export function secretsOf(
  { providers, api_keys: keys, server_config: sections }: Pick<Settings, 'providers' | 'api_keys' | 'server_config'>,
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
  return [...ofProviders, ...ofServices, ...ofRecords, ...keys.map(({ key }) => key)]
}

/** The fields of a record that are called secret, by its type and by the component that it follows. */
export function secretNames(type: AnyRecord, value: JsonObject, { providers }: Registry): ReadonlySet<string> {
  const { type: word } = value
  const component = type.typed !== undefined && typeof word === 'string' ? providers.get(word) : undefined
  return new Set([...(type.secrets ?? []), ...(component?.secrets ?? [])])
}

/** A value without its texts that are secret, and those texts by dotted path. */
export function withoutSecrets(
  value: JsonObject,
  named: ReadonlySet<string>,
  prefix = '',
): { readonly open: JsonObject; readonly secrets: Readonly<Record<string, string>> } {
  const secrets: Record<string, string> = {}
  const open = Object.entries(value).flatMap(([name, inner = null]): [string, Json][] => {
    const path = `${prefix}${name}`
    if (isSecret(name, inner, named)) {
      textsIn(inner).forEach((text, at) => (secrets[Array.isArray(inner) ? `${path}[${at}]` : path] = text))
      return []
    }
    if (!isObject(inner)) return [[name, inner]]
    const headers = name === 'headers' ? secretHeaders(inner) : named
    const within = withoutSecrets(inner, headers, `${path}.`)
    Object.assign(secrets, within.secrets)
    return [[name, within.open]]
  })
  return { open: Object.fromEntries(open), secrets }
}

function isSecret(name: string, value: Json, named: ReadonlySet<string>): boolean {
  return named.has(name) || (!isObject(value) && textsIn(value).some((text) => credentialsOf(text).length > 0))
}

function secretHeaders(headers: JsonObject): ReadonlySet<string> {
  return new Set(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value !== 'string' || isPlain(name, value) ? [] : [name],
    ),
  )
}

function secretsIn(config: JsonObject, named: ReadonlySet<string>): string[] {
  return Object.entries(config).flatMap(([name, value = null]) => {
    if (named.has(name)) return textsIn(value)
    if (name === 'headers' && isObject(value)) return Object.entries(value).flatMap(secretsOfHeader)
    return secretsOfMember(value, named)
  })
}

function secretsOfMember(value: Json, named: ReadonlySet<string>): string[] {
  if (isObject(value)) return secretsIn(value, named)
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item) => secretsOfMember(item, named))
  return typeof value === 'string' ? [...credentialsOf(value)] : []
}

/** Every text in a value. */
function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((member: Json | undefined) => textsIn(member ?? null))
}

/** The value of a header, what follows its scheme, and the password that basic credentials hold (RFC 7617). */
function secretsOfHeader([name, value]: readonly [string, Json | undefined]): string[] {
  if (typeof value !== 'string' || isPlain(name, value)) return []
  const [scheme = '', ...rest] = value.split(' ')
  const credentials = rest.join(' ')
  if (scheme.toLowerCase() !== 'basic') return [value, credentials]
  const [, ...password] = Buffer.from(credentials, 'base64').toString().split(':')
  return [value, credentials, password.join(':')]
}
