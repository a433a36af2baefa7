import { GatewayError } from '../../engine/index.ts'
import type { RecordChanged, TableQueries } from '../../engine/index.ts'
import type { KeyFields, KnownKey } from './known-key.ts'
import { changedColumns, keyOf } from './stored-keys.ts'
import type { Witness } from './stored-keys.ts'

/** Most keys that a message names. */
const mostNamed = 10

/** Whether a change leaves no guard of its name. */
export function endsGuard({ type, after }: Pick<RecordChanged, 'type' | 'after'>): boolean {
  return type === 'guard' && after === undefined
}

/** Refuses the end of a guard that keys of the database name: nothing would judge their requests any more. */
export async function refuseNamedGuard(database: TableQueries, name: string): Promise<void> {
  const keys = await keysWithGuards(database)
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
