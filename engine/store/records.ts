import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import { parsedObject } from '../json/parse.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Database } from './connect.ts'
import { codeOf } from './location.ts'
import type { Sealing } from './sealing.ts'
import type { EngineTables, RecordsTable } from './tables.ts'

/** A record that is kept in the database. */
export interface StoredRecord {
  /** Name of its type. */
  readonly type: string
  readonly name: string
  /** The revision that wrote it, so that no two of a name have the same one. */
  readonly version: number
  /** As it was given; absent: it cannot be read. */
  readonly value?: JsonObject
  /** Why it cannot: another master secret sealed it, or it is no JSON object. */
  readonly unread?: 'sealed' | 'broken'
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** Every stored record, and the number of changes that led to it. */
export interface StoredRecords {
  readonly revision: number
  readonly records: readonly StoredRecord[]
}

/** What becomes of one record; without a value it is deleted. */
export interface RecordWrite {
  readonly type: string
  readonly name: string
  readonly record?: StoredRecord & { readonly value: JsonObject }
  /** Whether something in it is secret, so that it is sealed. */
  readonly secret: boolean
}

/** Milliseconds between two tries while another process holds SQLite's lock, and how many there are. */
const PAUSE = 50
const TRIES = 100

/** The records in the database. */
export class RecordStore {
  readonly #database: Database
  readonly #sealing: Sealing

  constructor(database: Database, sealing: Sealing) {
    this.#database = database
    this.#sealing = sealing
  }

  /** Changes of records so far. */
  async revision(): Promise<number> {
    const [row] = await this.#database.rows<{ revision: number }>('select revision from record_revision')
    return row?.revision ?? 0
  }

  /** Every record, with the revision that they belong to. */
  async read(): Promise<StoredRecords> {
    const rows = await this.#database.rows<Row>(
      'select revision, records.* from record_revision left join records on true order by type, created_at, name',
    )
    const records = rows.flatMap((row) => (row.type === null ? [] : [this.#opened(row)]))
    return { revision: rows[0]?.revision ?? 0, records }
  }

  /**
   * Writes a change of what was read at a revision, in one transaction with what `witness` writes. False: another change
   * came first, and nothing was done. Rejects, and does nothing, when `witness` does.
   */
  async commit(
    write: RecordWrite,
    revision: number,
    witness: (transaction: Transaction<EngineTables>) => Promise<void>,
  ): Promise<boolean> {
    for (let tries = 1; ; tries++)
      try {
        return await this.#database.query.transaction().execute(async (transaction) => {
          const [moved] = await transaction
            .updateTable('record_revision')
            .set({ revision: revision + 1 })
            .where('revision', '=', revision)
            .execute()
          if (moved?.numUpdatedRows !== 1n) return false
          await this.#write(transaction, write)
          await witness(transaction)
          return true
        })
      } catch (error) {
        if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true || tries >= TRIES) throw error
        await wait(PAUSE)
      }
  }

  async #write(transaction: Transaction<EngineTables>, { type, name, record, secret }: RecordWrite): Promise<void> {
    await transaction.deleteFrom('records').where('type', '=', type).where('name', '=', name).execute()
    if (record === undefined) return
    const text = JSON.stringify(record.value)
    const row: RecordsTable = {
      type,
      name,
      version: record.version,
      value: secret ? this.#sealing.seal(Buffer.from(text), contextOf(record)).toString('base64') : text,
      sealed: secret ? 1 : 0,
      created_at: record.createdAt,
      updated_at: record.updatedAt,
    }
    await transaction.insertInto('records').values(row).execute()
  }

  #opened(row: RecordsTable): StoredRecord {
    const { type, name, version, value, sealed, created_at: createdAt, updated_at: updatedAt } = row
    const record = { type, name, version, createdAt, updatedAt }
    const text = sealed === 0 ? value : this.#sealing.unseal(Buffer.from(value, 'base64'), contextOf(record))
    if (text === undefined) return { ...record, unread: 'sealed' }
    const opened = parsedObject(text.toString())
    return opened === undefined ? { ...record, unread: 'broken' } : { ...record, value: opened }
  }
}

/** A row of records, or the revision alone where there are none. */
type Row = { readonly revision: number } & (RecordsTable | { readonly type: null })

function contextOf({ type, name }: Pick<StoredRecord, 'type' | 'name'>): string {
  return `record ${type} ${name}`
}
