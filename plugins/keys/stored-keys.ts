import { hash, randomBytes, randomUUIDv7 } from 'node:crypto'
import type { TableQueries } from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import type { ApiKeysTable } from './table.ts'

/** A key of the database, without its hash. */
export type StoredKey = Omit<ApiKeysTable, 'hash'>

/** The fields of a new key. */
export interface NewKey {
  readonly name: string
  /** Models that the key may use; absent: all. */
  readonly models?: readonly string[]
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** A created key. Its text is not stored. */
export interface MadeKey {
  readonly id: string
  readonly text: string
}

/** Called in the transaction of a change. If it rejects, the transaction fails. */
export type Witness = (transaction: TableQueries) => Promise<void>

/** Checks of a new key. */
export interface Making {
  /** Throws if a key with this text is invalid. */
  accept(text: string): void
  readonly witness: Witness
}

/** The name of a new key belongs to another key of the file or the database, possibly a revoked one. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken'
}

/** Prefix of created keys, by which scanners for leaked secrets recognize them. */
export const madePrefix = 'sk-sluice-'

/** Length of created keys. */
export const madeLength = madePrefix.length + 43

/** Creates a key. Rejects with a `NameTaken`. */
export async function insertKey(database: TableQueries, key: NewKey, making?: Making): Promise<MadeKey> {
  const id = randomUUIDv7()
  const text = madePrefix + randomBytes(32).toString('base64url')
  making?.accept(text)
  const { name, models, expiresAt } = key
  const row: ApiKeysTable = {
    id,
    name,
    hash: hash('sha256', text),
    hint: text.slice(-4),
    models: models === undefined ? null : JSON.stringify(models),
    created_at: Date.now(),
    expires_at: expiresAt ?? null,
    revoked_at: null,
  }
  await database.transaction().execute(async (transaction) => {
    const { numInsertedOrUpdatedRows: made } = await transaction
      .insertInto('api_keys')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doNothing())
      .executeTakeFirstOrThrow()
    if (made !== 1n) throw new NameTaken(`an API key named "${name}" exists already; a revoked one keeps its name`)
    await making?.witness(transaction)
  })
  return { id, text }
}

/** Every key, including revoked ones, oldest first. */
export function storedKeys(database: TableQueries): Promise<StoredKey[]> {
  const columns = ['id', 'name', 'hint', 'models', 'created_at', 'expires_at', 'revoked_at'] as const
  return database.selectFrom('api_keys').select(columns).orderBy('created_at').orderBy('id').execute()
}

/** Revokes a key permanently, by its id. Resolves to whether it was active. */
export function revokeKey(database: TableQueries, id: string, witness?: Witness): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('api_keys')
      .set({ revoked_at: Date.now() })
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 1n) await witness?.(transaction)
    return numUpdatedRows === 1n
  })
}

/** The models of a row. An invalid list allows no models: a damaged row must not extend the rights of a key. */
export function modelsOf(text: string | null): readonly string[] | undefined {
  if (text === null) return undefined
  const models = parsedJson(text)
  return Array.isArray(models) ? models.filter((model) => typeof model === 'string') : []
}
