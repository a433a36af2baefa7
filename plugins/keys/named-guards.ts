import { randomUUID } from 'node:crypto'
import { GatewayError } from '../../engine/index.ts'
import type { RecordChanged, ServiceConfiguration, SqlDialect, TableQueries } from '../../engine/index.ts'
import type { KeyFields, KnownKey } from './known-key.ts'
import { changedColumns, keyOf } from './stored-keys.ts'
import type { Witness } from './stored-keys.ts'

/** Most keys that a message names. */
const mostNamed = 10

/** Whether a change leaves no guard of its name. */
export function endsGuard({ type, after }: Pick<RecordChanged, 'type' | 'after'>): boolean {
  return type === 'guard' && after === undefined
}

/**
 * Refuses names that a change of a key brings where the guard was deleted meanwhile. Until the transaction ends, none is
 * deleted: every change of records writes their revision first. So this must be the first lock of the transaction.
 * Rejects with `invalid_reference`.
 * @param stored the names of guards that are not of the file
 */
export async function requireGuards(
  transaction: TableQueries,
  dialect: SqlDialect,
  names: readonly string[],
  stored: ReadonlySet<string>,
): Promise<void> {
  const wanted = names.filter((name) => stored.has(name))
  if (wanted.length === 0) return
  const { sql } = await import('kysely')
  if (dialect === 'postgres') await sql`select revision from record_revision for share`.execute(transaction)
  const { rows } = await sql<{ name: string }>`select name from records where type = 'guard'`.execute(transaction)
  const missing = wanted.find((name) => !rows.some((row) => row.name === name))
  if (missing === undefined) return
  throw new GatewayError(
    'invalid_reference',
    { param: 'guards', reason: `names no guard: "${missing}"` },
    { param: 'guards' },
  )
}

/** The guards that a change of a key names, and that it did not name before. */
export function namedBy(after: KeyFields, before?: KeyFields): readonly string[] {
  const known = new Set(before ? namedBy(before) : [])
  return [...(after.guards ?? []), ...(after.guardsOff ?? [])].filter((name) => !known.has(name))
}

/** Refuses the end of a guard that keys of the database name: nothing would judge their requests any more. */
export async function refuseNamedGuard(transaction: TableQueries, name: string): Promise<void> {
  const keys = await keysWithGuards(transaction)
  const users = keys.flatMap(({ fields }) => (fields.guards?.includes(name) ? [`API key "${fields.name}"`] : []))
  if (users.length === 0) return
  const reason = `${someOf(users)} ${users.length > 1 ? 'need' : 'needs'} it`
  throw new GatewayError('in_use', { type: 'guard', name, reason })
}

/**
 * Takes a guard that ends out of the keys of the database that it does not judge: a later guard of its name judges them.
 * Rejects if a key is changed meanwhile.
 * @param witnessOf tells of the change of each key, in the same transaction
 */
export async function forgetGuard(
  transaction: TableQueries,
  name: string,
  witnessOf: (key: KnownKey, after: KeyFields) => Witness,
): Promise<void> {
  for (const key of await keysWithGuards(transaction)) {
    const { fields, id, stored } = key
    const { guardsOff: off = [], ...others } = fields
    if (!off.includes(name)) continue
    const left = off.filter((one) => one !== name)
    const after = left.length > 0 ? { ...others, guardsOff: left } : others
    const version = stored?.version ?? 0
    const { numUpdatedRows } = await transaction
      .updateTable('api_keys')
      .set({ updated_at: Date.now(), ...changedColumns(fields, after), version: version + 1 })
      .where('id', '=', id)
      .where('version', '=', version)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows !== 1n) throw new Error(`the API key ${id} was changed meanwhile`)
    await witnessOf(key, after)(transaction)
  }
}

/** Tells which names of guards a key may have in a configuration. */
export function guardsOf(accept: ServiceConfiguration['accept']): (name: string) => boolean {
  const known = new Map<string, boolean>()
  return (name) => {
    const is = known.get(name) ?? isAccepted(accept, name)
    known.set(name, is)
    return is
  }
}

function isAccepted(accept: ServiceConfiguration['accept'], name: string): boolean {
  try {
    accept('api_key', { guards: [name], name: randomUUID(), key: randomUUID() })
    return true
  } catch {
    return false
  }
}

/** Names keys that are closed, because they name a guard that does not exist; undefined: none does. */
export function closedKeys(keys: readonly KnownKey[], isGuard: (name: string) => boolean): string | undefined {
  const closed = keys.flatMap(({ fields: { name, guards = [] } }) => {
    const missing = guards.find((guard) => !isGuard(guard))
    return missing === undefined ? [] : [`API key "${name}" (guard "${missing}")`]
  })
  if (closed.length === 0) return undefined
  return `closed, since there is no such guard: ${someOf(closed)}`
}

/** The first of some names, and how many more there are. */
function someOf(names: readonly string[]): string {
  const more = names.length > mostNamed ? [`${names.length - mostNamed} more`] : []
  return [...names.slice(0, mostNamed), ...more].join(', ')
}

async function keysWithGuards(database: TableQueries): Promise<readonly KnownKey[]> {
  const rows = database.selectFrom('api_keys').selectAll().where('guards', 'is not', null)
  return (await rows.where('revoked_at', 'is', null).execute()).map(keyOf)
}
