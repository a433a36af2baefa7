import { hash, randomBytes, randomUUIDv7 } from 'node:crypto'
import { GatewayError } from '../../engine/index.ts'
import type { Budget, RateLimit, TableQueries } from '../../engine/index.ts'
import { parsedJson, parsedObject, whenFree } from '../../engine/kit.ts'
import type { KeyFields, KnownKey, StoredFacts, Tags } from './known-key.ts'
import { archiveRevoked, foldedName } from './table.ts'
import type { KeyRow, RevokedKeysTable } from './table.ts'

/** A key of the database in the list of all, revoked ones included. */
export type StoredKey = Omit<RevokedKeysTable, 'revoked_at'> & Pick<KeyRow, 'revoked_at'>

/** A new text of a key. It is not stored. */
export interface MadeKey {
  readonly id: string
  readonly text: string
}

/** Called in the transaction of a change. If it rejects, the transaction fails. */
export type Witness = (transaction: TableQueries) => Promise<void>

/** What goes with the creation of a key. */
export interface Making {
  /** Throws if a key with this text is invalid. */
  readonly accept?: (text: string) => void
  /** Called in the transaction before the key is stored. */
  readonly prepare?: Witness | undefined
  /** Called in the transaction after it. */
  readonly witness?: (transaction: TableQueries, made: { readonly id: string; readonly hint: string }) => Promise<void>
  /** The name of whoever creates it. */
  readonly createdBy?: string | undefined
}

/** The name of a key belongs to another key of the file or the database. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken'
}

/** Prefix of created keys, by which scanners for leaked secrets recognize them. */
export const madePrefix = 'sk-sluice-'

/** Length of created keys. */
export const madeLength = madePrefix.length + 43

/** The column `disabled` of a key that its owner has disabled; 1: an admin has. */
const byOwner = 2

/** The columns of fields. */
export function columnsOf(fields: KeyFields): Partial<KeyRow> & Pick<KeyRow, 'name'> {
  const {
    name,
    owner,
    models,
    budget,
    rateLimit,
    mcpServers,
    tags,
    expiresAt,
    disabled,
    disabledBy,
    granted,
    metrics,
    guards: on,
    guardsOff: off,
  } = fields
  const text = (value: object | undefined) => (value === undefined ? null : JSON.stringify(value))
  return {
    name,
    folded: foldedName(name),
    owner: owner ?? null,
    models: text(models),
    budget: text(budget),
    rate_limit: text(rateLimit),
    mcp_servers: text(mcpServers),
    tags: text(tags),
    granted: text(granted),
    expires_at: expiresAt ?? null,
    guards: on || off ? JSON.stringify({ on: on ?? [], off: off ?? [] }) : null,
    metrics: metrics === true ? 1 : 0,
    disabled: disabled === true ? (disabledBy === 'owner' ? byOwner : 1) : 0,
  }
}

/** The columns that differ after a change of the fields in force. */
export function changedColumns(before: KeyFields, after: KeyFields): Partial<KeyRow> {
  const old: Partial<KeyRow> = columnsOf(before)
  const next = columnsOf(after)
  const set = Object.fromEntries(Object.entries(next).filter(([name, value]) => old[name as keyof KeyRow] !== value))
  // The key of a deleted member is free of him when it is enabled again.
  return 'disabled' in set ? { ...set, owner: next.owner ?? null } : set
}

/** A new text, and the columns that find it. */
export function makeText(): { readonly text: string; readonly columns: Pick<KeyRow, 'hash' | 'hint'> } {
  const text = madePrefix + randomBytes(32).toString('base64url')
  return { text, columns: { hash: hash('sha256', text), hint: text.slice(-4) } }
}

/** The key of a row. Written for speed: all rows are read every few seconds, and keys may be many. */
export function keyOf(row: KeyRow): KnownKey {
  const fields: Writable<KeyFields> = { name: row.name }
  const stored: Writable<StoredFacts> = {
    hint: row.hint,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at ?? row.created_at,
  }
  let isDamaged = false
  const objectIn = (text: string) => {
    const found = parsedObject(text)
    isDamaged ||= found === undefined
    return (found ?? {}) as object
  }
  if (row.owner !== null) fields.owner = row.owner
  if (row.models !== null) fields.models = namesIn(row.models)
  if (row.budget !== null) fields.budget = objectIn(row.budget) as Budget
  if (row.rate_limit !== null) fields.rateLimit = objectIn(row.rate_limit) as RateLimit
  if (row.mcp_servers !== null) fields.mcpServers = namesIn(row.mcp_servers)
  if (row.tags !== null) fields.tags = objectIn(row.tags) as Tags
  if (row.granted !== null) fields.granted = objectIn(row.granted)
  if (row.expires_at !== null) fields.expiresAt = row.expires_at
  if (row.guards !== null) {
    const { on, off } = objectIn(row.guards) as { readonly on?: readonly string[]; readonly off?: readonly string[] }
    if (on?.length) fields.guards = on
    if (off?.length) fields.guardsOff = off
  }
  if (row.metrics !== 0) fields.metrics = true
  if (row.disabled !== 0) fields.disabled = true
  if (row.disabled === byOwner) fields.disabledBy = 'owner'
  if (row.created_by !== null) stored.createdBy = row.created_by
  if (row.rotated_at !== null) stored.rotatedAt = row.rotated_at
  const end = row.expires_at ?? Infinity
  const texts = [{ digest: row.hash, until: end }]
  if (row.previous_hash !== null && row.previous_until !== null)
    texts.push({ digest: row.previous_hash, until: Math.min(end, row.previous_until) })
  return { id: row.id, fields, isDamaged, texts, stored }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** The names in a row. A damaged list allows none: a damaged row must not extend the rights of a key. */
function namesIn(text: string): readonly string[] {
  const names = parsedJson(text)
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
}

/** Creates a key. Rejects with a `NameTaken`. */
export async function insertKey(database: TableQueries, fields: KeyFields, making: Making = {}): Promise<MadeKey> {
  const id = randomUUIDv7()
  const { text, columns } = makeText()
  making.accept?.(text)
  const values = {
    ...columnsOf(fields),
    ...columns,
    id,
    created_at: Date.now(),
    created_by: making.createdBy ?? null,
    version: 1,
  }
  const insert = async (transaction: TableQueries) => {
    await making.prepare?.(transaction)
    await archiveRevoked(transaction)
    const { numInsertedOrUpdatedRows: made } = await transaction
      .insertInto('api_keys')
      .values(values)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (made !== 1n) throw nameTaken(fields.name)
    await making.witness?.(transaction, { id, hint: columns.hint })
  }
  await whenFree(() => database.transaction().execute(insert))
  return { id, text }
}

function nameTaken(name: string): NameTaken {
  return new NameTaken(`an API key named "${name}" exists already`)
}

/** A change of a key: the columns to set, and what happens in the same transaction. */
export interface KeyChange {
  readonly set: Partial<KeyRow>
  /** Called before it. */
  readonly prepare?: Witness
  readonly witness?: Witness
}

/** Plans the change of a key; undefined: nothing changes. */
export type PlanChange = (key: KnownKey, row: KeyRow) => KeyChange | undefined

/**
 * Changes a key according to its current state; `plan` may be called again if another process changes the key first.
 * Resolves to whether anything changed; undefined: there is no such key. Rejects with `stale_version` and `NameTaken`.
 * @param versions the versions that the key may have; absent: any
 */
export async function changeKey(
  database: TableQueries,
  id: string,
  versions: readonly number[] | undefined,
  plan: PlanChange,
): Promise<boolean | undefined> {
  for (;;) {
    const row = await livingRow(database, id)
    if (row === undefined) return undefined
    const { name, version } = row
    if (versions?.includes(version) === false)
      throw new GatewayError('stale_version', { type: 'API key', name, version })
    const change = plan(keyOf(row), row)
    if (change === undefined) return false
    const update = async (transaction: TableQueries) => {
      await change.prepare?.(transaction)
      const { numUpdatedRows } = await transaction
        .updateTable('api_keys')
        .set({ updated_at: Date.now(), ...change.set, version: version + 1 })
        .where('id', '=', id)
        .where('version', '=', version)
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow()
      if (numUpdatedRows !== 1n) return false
      await archiveRevoked(transaction)
      await change.witness?.(transaction)
      return true
    }
    const isDone = await whenFree(() => database.transaction().execute(update)).catch((error: unknown) => {
      throw isRepeated(error) ? nameTaken(change.set.name ?? name) : error
    })
    if (isDone) return true
  }
}

function livingRow(database: TableQueries, id: string): Promise<KeyRow | undefined> {
  const rows = database.selectFrom('api_keys').selectAll().where('id', '=', id).where('revoked_at', 'is', null)
  return rows.executeTakeFirst()
}

/** Runs work of a request. Rejects with `name_taken`, and with `store_unavailable` in place of any error of the database. */
export async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof GatewayError) throw error
    if (error instanceof NameTaken)
      throw new GatewayError('name_taken', { reason: `${error.message.replace(/^a/, 'A')}.` })
    throw new GatewayError('store_unavailable', {}, { cause: error })
  }
}

/** Whether a unique column has the value already (PostgreSQL, appendix A: `unique_violation`). */
function isRepeated(error: unknown): boolean {
  return ['23505', 'SQLITE_CONSTRAINT_UNIQUE'].includes(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
