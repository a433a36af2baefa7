import type { Budget, Principal, RateLimit } from '../../engine/index.ts'
import { isPattern } from '../../engine/kit.ts'

/** The fields of a key that can be declared, or given when it is created or changed. */
export interface KeyFields {
  readonly name: string
  /** Id of the member whose models, budget and limits bind the key, too. */
  readonly owner?: string
  /** Models that the key may use, by record name; absent: all. */
  readonly models?: readonly string[]
  readonly budget?: Budget
  readonly rateLimit?: RateLimit
  /** MCP servers that the key may use; absent: all over HTTP, and no program. */
  readonly mcpServers?: readonly string[]
  readonly tags?: Tags
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
  /** Guards that judge its requests beside the usual ones, and usual ones that do not. */
  readonly guards?: readonly string[]
  readonly guardsOff?: readonly string[]
  /** Whether it may read the metrics of the gateway. */
  readonly metrics?: boolean
  readonly disabled?: boolean
  /** Who disabled it: its owner himself; absent: an admin. */
  readonly disabledBy?: 'owner'
  /** What its owner may give it at most, as an admin left it; absent: its own limits, so that he only narrows them. */
  readonly granted?: KeyLimits
}

/** What a key may use. What is absent is not limited. */
export type KeyLimits = Pick<KeyFields, 'models' | 'budget' | 'rateLimit' | 'mcpServers' | 'expiresAt'>

/** The limits by the names that they have in bodies. */
export const limitFields = {
  models: 'models',
  budget: 'budget',
  rate_limit: 'rateLimit',
  mcp_servers: 'mcpServers',
  expires_at: 'expiresAt',
} as const satisfies Readonly<Record<string, keyof KeyLimits>>

/** The limits among the fields of a key. */
export function limitsOf(fields: KeyFields): KeyLimits {
  return Object.fromEntries(
    Object.values(limitFields).flatMap((name) => (name in fields ? [[name, fields[name]]] : [])),
  )
}

export type Tags = Readonly<Record<string, string>>

/** An API key of the configuration file. */
export interface DeclaredKey extends KeyFields {
  readonly key: string
}

/** `off`: it is left out, because the file declares a key of the same name or text. */
export type KeyState = 'active' | 'disabled' | 'expired' | 'off'

/** A key as other services see it. */
export interface KeyFacts extends KeyFields {
  readonly id: string
  readonly tags: Tags
  readonly state: KeyState
}

/** What a member lends to the keys he owns. */
export interface Owner {
  readonly username: string
  readonly disabled: boolean
  /** Absent: all. */
  readonly models?: ReadonlySet<string>
}

/** Finds a member by id; undefined: he was deleted. */
export type FindOwner = (id: string) => Owner | undefined

/** What the database keeps of a key beside its fields. Times in milliseconds since 1970. */
export interface StoredFacts {
  /** The last four characters of its text. */
  readonly hint: string
  readonly version: number
  readonly createdAt: number
  readonly createdBy?: string
  readonly updatedAt: number
  readonly rotatedAt?: number
}

/** A living key of the file or of the database. */
export interface KnownKey {
  readonly id: string
  readonly fields: KeyFields
  /** Whether a field of its row cannot be read. A damaged row must not extend the rights of a key. */
  readonly isDamaged?: boolean
  /** SHA-256, in hex, of the texts by which it is found, each with its end. */
  readonly texts: readonly { readonly digest: string; readonly until: number }[]
  /** Absent: the file declares it. */
  readonly stored?: StoredFacts
}

/** A key of the database that is left out, because the file declares a key of its name or its text. */
export interface LeftOut {
  readonly id: string
  readonly name: string
  readonly because: 'name' | 'text'
}

/** The fields of a key that are in force. The keys of a deleted member are disabled and have no owner. */
export function fieldsInForce({ fields }: Pick<KnownKey, 'fields'>, ownerOf: FindOwner): KeyFields {
  if (fields.owner === undefined || ownerOf(fields.owner) !== undefined) return fields
  const { owner: _deleted, ...others } = fields
  return { ...others, disabled: true }
}

/** Whether clients may not use a key, whatever the time. */
export function isDisabled(key: KnownKey, ownerOf: FindOwner): boolean {
  const { owner, disabled = false } = fieldsInForce(key, ownerOf)
  return disabled || key.isDamaged === true || (owner !== undefined && ownerOf(owner)?.disabled === true)
}

/** The holder of a key. */
export function principalOf({ id, fields }: Pick<KnownKey, 'id' | 'fields'>, ownerOf: FindOwner): Principal {
  const { name, owner, models, tags, metrics, guards: on = [], guardsOff: off = [] } = fields
  const own = models && new Set(models)
  const allowed = owner === undefined ? own : narrower(own, ownerOf(owner)?.models)
  return Object.freeze({
    kind: 'key',
    id,
    name,
    ...(owner !== undefined && { owner }),
    ...(tags && { tags }),
    ...(on.length + off.length > 0 && { guards: { on, off } }),
    ...(metrics === true && { metrics }),
    ...(allowed && { models: allowed }),
  })
}

/** The models that two lists allow; undefined: all. */
function narrower(
  one: ReadonlySet<string> | undefined,
  other: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  if (one === undefined || other === undefined) return one ?? other
  const within = (models: ReadonlySet<string>, list: ReadonlySet<string>) =>
    [...models].filter((name) => covers(list, name))
  return new Set([...within(one, other), ...within(other, one)])
}

/** Whether a list of models contains a name or a pattern, which a wider pattern contains, too. */
export function covers(list: ReadonlySet<string>, name: string): boolean {
  if (list.has(name)) return true
  return [...list].some((wide) => isPattern(wide) && name.length >= wide.length && name.startsWith(wide.slice(0, -1)))
}
