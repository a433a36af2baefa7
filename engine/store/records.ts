import type { Transaction } from 'kysely'
import { parsedObject } from '../json/parse.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Database } from './connect.ts'
import type { Sealing } from '../secrets/sealing.ts'
import type { DeletedRecordsTable, EngineTables, MasterSecretsTable, RecordsTable } from './tables.ts'
import { whenFree } from './when-free.ts'

/** A record stored in the database. */
export interface StoredRecord {
  /** The name of its type. */
  readonly type: string
  readonly name: string
  /** Counts the changes from 1; a record that is made again continues after the deleted one of its name. */
  readonly version: number
  /** The value as it was given; absent: it cannot be read. */
  readonly value?: JsonObject
  /** What its type noted about it; never a secret. */
  readonly notes?: JsonObject
  /** Why it cannot be read: it was sealed with another master secret, or it is not a JSON object. */
  readonly unread?: 'sealed' | 'broken'
  /** Unix time in milliseconds. */
  readonly createdAt: number
  readonly updatedAt: number
  /** Name of who changed it last; absent: the gateway itself. */
  readonly updatedBy?: string
}

/** All stored records, and their revision: the number of changes so far. */
export interface StoredRecords {
  readonly revision: number
  readonly records: readonly StoredRecord[]
}

/** The new state of one record; without a value it is deleted. */
export interface RecordWrite {
  readonly type: string
  readonly name: string
  readonly record?: StoredRecord & { readonly value: JsonObject }
  /** Whether the value contains a secret and must be sealed. */
  readonly secret: boolean
}

/** The records in the database. */
export class RecordStore {
  readonly #database: Database
  readonly #sealing: Sealing

  constructor(database: Database, sealing: Sealing) {
    this.#database = database
    this.#sealing = sealing
  }

  /** The number of changes so far. */
  async revision(): Promise<number> {
    const [row] = await this.#database.rows<{ revision: number }>('select revision from record_revision')
    return row?.revision ?? 0
  }

  /** All records with their revision. */
  async read(): Promise<StoredRecords> {
    const rows = await this.#database.rows<Row>(
      'select revision, records.* from record_revision left join records on true order by type, created_at, name',
    )
    // After the records: what an earlier secret has sealed can be opened with a later one, too.
    this.#sealing.follow(await this.#database.rows<MasterSecretsTable>('select * from master_secrets order by at desc'))
    const records = rows.flatMap((row) => (row.type === null ? [] : [this.#opened(row)]))
    return { revision: rows[0]?.revision ?? 0, records }
  }

  /** The last versions of the deleted records with these names, of any type. */
  async deleted(names: readonly string[]): Promise<readonly DeletedRecordsTable[]> {
    if (names.length === 0) return []
    const query = this.#database.query.selectFrom('deleted_records').selectAll().where('name', 'in', names)
    return query.execute()
  }

  /**
   * Writes changes based on a revision, in one transaction with the writes of `witness`. Returns false if another
   * change came first; nothing is written then. If `witness` rejects, it rejects, too, and writes nothing.
   */
  async commit(
    writes: readonly RecordWrite[],
    revision: number,
    witness: (transaction: Transaction<EngineTables>) => Promise<void>,
  ): Promise<boolean> {
    return whenFree(() =>
      this.#database.query.transaction().execute(async (transaction) => {
        const [moved] = await transaction
          .updateTable('record_revision')
          .set({ revision: revision + 1 })
          .where('revision', '=', revision)
          .execute()
        if (moved?.numUpdatedRows !== 1n) return false
        for (const write of writes) await this.#write(transaction, write)
        await witness(transaction)
        return true
      }),
    )
  }

  async #write(transaction: Transaction<EngineTables>, { type, name, record, secret }: RecordWrite): Promise<void> {
    const old = transaction.selectFrom('records').select(['type', 'name', 'version'])
    await transaction.deleteFrom('deleted_records').where('type', '=', type).where('name', '=', name).execute()
    if (record === undefined)
      await transaction
        .insertInto('deleted_records')
        .columns(['type', 'name', 'version'])
        .expression(old.where('type', '=', type).where('name', '=', name))
        .execute()
    await transaction.deleteFrom('records').where('type', '=', type).where('name', '=', name).execute()
    if (record === undefined) return
    const text = JSON.stringify(record.value)
    const row: RecordsTable = {
      type,
      name,
      version: record.version,
      value: secret ? this.#sealing.seal(Buffer.from(text), contextOf(record)).toString('base64') : text,
      sealed: secret ? 1 : 0,
      notes: record.notes === undefined ? null : JSON.stringify(record.notes),
      created_at: record.createdAt,
      updated_at: record.updatedAt,
      updated_by: record.updatedBy ?? null,
    }
    await transaction.insertInto('records').values(row).execute()
  }

  #opened(row: RecordsTable): StoredRecord {
    const { type, name, version, value, sealed, created_at: createdAt, updated_at: updatedAt } = row
    const notes = row.notes === null ? undefined : parsedObject(row.notes)
    const by = row.updated_by === null ? {} : { updatedBy: row.updated_by }
    const record = { type, name, version, createdAt, updatedAt, ...by, ...(notes && { notes }) }
    const text = sealed === 0 ? value : this.#sealing.unseal(Buffer.from(value, 'base64'), contextOf(record))
    if (text === undefined) return { ...record, unread: 'sealed' }
    const opened = parsedObject(text.toString())
    return opened === undefined ? { ...record, unread: 'broken' } : { ...record, value: opened }
  }
}

/** A row of records, or only the revision if there are no records. */
type Row = { readonly revision: number } & (RecordsTable | { readonly type: null })

/** The context with which the value of a record is sealed. */
export function contextOf({ type, name }: Pick<StoredRecord, 'type' | 'name'>): string {
  return `record ${type} ${name}`
}
