import { hash } from 'node:crypto'
import { Refusal, GatewayError } from '../../engine/index.ts'
import type { Budget, TableQueries } from '../../engine/index.ts'
import { whenFree } from '../../engine/kit.ts'
import type { KeyFields } from './known-key.ts'
import { columnsOf } from './stored-keys.ts'
import { foldedName } from './table.ts'

/** A key of another gateway, of which the hash of its text is known. */
export interface TakenKey {
  readonly fields: KeyFields
  /** SHA-256 of its text, in hex. */
  readonly hash: string
  /** The last characters of its text. */
  readonly hint: string
  /** The hash of the text that it had before, and until when that counts: milliseconds since 1970. */
  readonly previous?: { readonly hash: string; readonly until: number }
  /** What was spent of its budget within the current period, in micro-USD. */
  readonly spent?: { readonly micros: number; readonly period: Budget['period'] }
}

/** What became of keys that were taken over. */
export interface Taken {
  /** Their names. */
  readonly imported: readonly string[]
  /** How many were known already. */
  readonly skipped: number
  /** What the record type does not accept. */
  readonly lost: readonly { readonly name: string; readonly why: string }[]
}

/** What goes with taking keys over. All of it happens in one transaction. */
export interface Taking {
  /** Whether the file declares a key of this name. */
  readonly isDeclared: (name: string) => boolean
  /** The fields as they are stored. Throws for those that are invalid. */
  readonly accept: (fields: KeyFields) => KeyFields
  /** Called after a key is stored. */
  readonly stored: (transaction: TableQueries, key: TakenKey & { readonly id: string }) => Promise<void>
}

/** The id of a key that is taken over: the same each time, so that one that was revoked since does not come back. */
function idOf(digest: string): string {
  return `taken-${hash('sha256', `taken:${digest}`).slice(0, 32)}`
}

/** Stores keys that are not known yet, in one transaction. Names that are taken get the next free number. */
export async function takeKeys(database: TableQueries, keys: readonly TakenKey[], taking: Taking): Promise<Taken> {
  const lost: { name: string; why: string }[] = []
  const fitting = keys.flatMap((key) => {
    try {
      return [{ ...key, fields: taking.accept(key.fields) }]
    } catch (error) {
      if (!(error instanceof GatewayError || error instanceof Refusal)) throw error
      lost.push({ name: key.fields.name, why: error.message })
      return []
    }
  })
  const imported: string[] = []
  const take = async (transaction: TableQueries) => {
    imported.length = 0
    const rows = await transaction.selectFrom('api_keys').select(['folded', 'name', 'hash', 'previous_hash']).execute()
    const revoked = await transaction
      .selectFrom('api_keys_revoked')
      .select('id')
      .where('id', 'like', 'taken-%')
      .execute()
    const hashes = new Set(rows.flatMap((row) => [row.hash, row.previous_hash]))
    const names = new Set(rows.map((row) => row.folded ?? foldedName(row.name)))
    const ids = new Set(revoked.map(({ id }) => id))
    for (const key of fitting) {
      const id = idOf(key.hash)
      if (hashes.has(key.hash) || ids.has(id)) continue
      const name = freeName(key.fields.name, (one) => names.has(foldedName(one)) || taking.isDeclared(one))
      const fields = { ...key.fields, name }
      const values = {
        ...columnsOf(fields),
        id,
        hash: key.hash,
        hint: key.hint,
        created_at: Date.now(),
        version: 1,
        previous_hash: key.previous?.hash ?? null,
        previous_until: key.previous?.until ?? null,
      }
      await transaction.insertInto('api_keys').values(values).execute()
      await taking.stored(transaction, { ...key, fields, id })
      hashes.add(key.hash)
      names.add(foldedName(name))
      imported.push(name)
    }
  }
  await whenFree(() => database.transaction().execute(take))
  return { imported, skipped: fitting.length - imported.length, lost }
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  if (!isTaken(wanted)) return wanted
  let number = 2
  while (isTaken(`${wanted}-${number}`)) number += 1
  return `${wanted}-${number}`
}
