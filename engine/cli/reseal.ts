import type { Transaction } from 'kysely'
import type { SealedColumn } from '../spec/database.ts'
import { StartError } from '../config/location.ts'
import { contextOf } from '../store/records.ts'
import { contextOfSecret, deriveKey, markOf, sealWith, unsealWith } from '../secrets/sealing.ts'
import type { Stores } from '../store/stores.ts'
import type { EngineTables } from '../store/tables.ts'
import { whenFree } from '../store/when-free.ts'

/** What a rotation has to know and to do besides the engine's own tables. */
export interface Rotation {
  /** The new secret. */
  readonly secret: string
  /** The sealed columns of services. */
  readonly columns: readonly SealedColumn[]
  /** Further writes of the transaction, after everything is sealed anew. */
  readonly also: (transaction: Transaction<EngineTables>, deriveKey: (info: string) => Buffer) => Promise<void>
}

/** Numbers of what was sealed anew, and of what no known secret could open, which stays as it was. */
export interface Rotated {
  readonly records: number
  readonly rows: number
  readonly unreadable: number
}

/** Rows that are read at a time. */
const pageSize = 100

/**
 * Puts a new master secret in the place of the old one, and seals everything anew in one transaction. Running processes
 * notice the new revision of the stored records, and follow. The earlier secrets are kept, sealed with the new one:
 * clients have compacted conversations that they sealed. Rejects with a `StartError`, or with an error of the
 * database; nothing has changed then.
 */
export async function rotateSecret({ database, sealing }: Stores, { secret, ...rest }: Rotation): Promise<Rotated> {
  const old = sealing.secret()
  if (secret === old) throw new StartError('the new master secret is the present one')
  const work = async (transaction: Transaction<EngineTables>) => {
    // The lock on the only row is what changes of records and other rotations wait for.
    await transaction
      .updateTable('record_revision')
      .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
      .execute()
    const resealing = new Resealing(transaction, { old, next: secret, unseal: sealing.unseal })
    await resealing.noteSecrets()
    // Not before the lock is held: another rotation may just be using the file.
    if (sealing.from === 'file') sealing.file.prepare(secret)
    await resealing.records()
    for (const column of rest.columns) await resealing.column(column)
    sealing.use(secret)
    await rest.also(transaction, (info) => deriveKey(old, info))
    return resealing.rotated
  }
  try {
    const rotated = await whenFree(() => database.query.transaction().execute(work))
    if (sealing.from === 'file') sealing.file.settle(secret)
    return rotated
  } catch (error) {
    sealing.use(old)
    throw error
  }
}

type Cell = string | number
type Cells = Record<string, Cell>

/** Seals anew what is stored, within the transaction of a rotation. */
class Resealing {
  readonly #transaction: Transaction<EngineTables>
  readonly #old: string
  readonly #next: string
  readonly #unseal: Stores['sealing']['unseal']
  #counts = { records: 0, rows: 0, unreadable: 0 }

  constructor(
    transaction: Transaction<EngineTables>,
    {
      old,
      next,
      unseal,
    }: { readonly old: string; readonly next: string; readonly unseal: Stores['sealing']['unseal'] },
  ) {
    this.#transaction = transaction
    this.#old = old
    this.#next = next
    this.#unseal = unseal
  }

  get rotated(): Rotated {
    return { ...this.#counts }
  }

  /** Notes the new secret as the newest, and keeps the earlier ones, sealed with it. */
  async noteSecrets(): Promise<void> {
    const [old, next] = [markOf(this.#old), markOf(this.#next)]
    const known = await this.#transaction.selectFrom('master_secrets').selectAll().execute()
    const newest = known.find(({ sealed }) => sealed === null)
    if (newest && newest.mark !== old) throw new StartError('this is not the present master secret of the gateway')
    if (known.some(({ mark }) => mark === next)) throw new StartError('the new master secret was used before')
    await this.#transaction.deleteFrom('master_secrets').execute()
    const at = Date.now()
    const kept = [...known.filter((one) => one !== newest), { mark: old, at: newest?.at ?? at - 1, sealed: null }]
    const rows = kept.map((one) => ({ ...one, sealed: this.#kept(one) }))
    await this.#transaction
      .insertInto('master_secrets')
      .values([...rows, { mark: next, at, sealed: null }])
      .execute()
  }

  #kept({ mark, sealed }: { readonly mark: string; readonly sealed: string | null }): string {
    const secret = sealed === null ? Buffer.from(this.#old) : this.#opened(sealed, contextOfSecret(mark))
    if (secret === undefined) throw new StartError('an earlier master secret cannot be opened')
    return this.#sealed(secret, contextOfSecret(mark))
  }

  /** Seals the stored records anew. None may be lost, so each must open. */
  async records(): Promise<void> {
    const query = this.#transaction.selectFrom('records').select(['type', 'name', 'value']).where('sealed', '=', 1)
    for (const { value, ...record } of await query.execute()) {
      const bytes = this.#opened(value, contextOf(record))
      const { type, name } = record
      if (bytes === undefined)
        throw new StartError(`the ${type} "${name}" cannot be opened with the present master secret`)
      await this.#transaction
        .updateTable('records')
        .set({ value: this.#sealed(bytes, contextOf(record)) })
        .where('type', '=', type)
        .where('name', '=', name)
        .execute()
      this.#counts.records += 1
    }
  }

  /** Seals a column of a service anew. */
  async column(sealed: SealedColumn): Promise<void> {
    const { table, key, column } = sealed
    const transaction = this.#transaction as unknown as Transaction<Record<string, Cells>>
    let after: Cell | undefined
    for (;;) {
      const last = after
      const page = await transaction
        .selectFrom(table as string)
        .select([key, column])
        .$if(last !== undefined, (rows) => rows.where(key, '>', last as Cell))
        .orderBy(key)
        .limit(pageSize)
        .execute()
      for (const { [key]: id = '', [column]: value } of page) {
        const bytes = this.#opened(`${value}`, sealed.context(id))
        this.#counts[bytes ? 'rows' : 'unreadable'] += 1
        if (bytes === undefined) continue
        const values = { [column]: this.#sealed(bytes, sealed.context(id)) }
        await transaction
          .updateTable(table as string)
          .set(values)
          .where(key, '=', id)
          .execute()
      }
      after = page.at(-1)?.[key]
      if (page.length < pageSize) return
    }
  }

  #opened(sealed: string, context: string): Buffer | undefined {
    const bytes = Buffer.from(sealed, 'base64')
    return unsealWith(this.#old, bytes, context) ?? this.#unseal(bytes, context)
  }

  #sealed(bytes: Uint8Array, context: string): string {
    return sealWith(this.#next, bytes, context).toString('base64')
  }
}
