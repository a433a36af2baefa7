import { GatewayError } from '../../engine/index.ts'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import { whenFree } from '../../engine/kit.ts'
import { checkpointOf } from './checkpoints.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { AuditKeys } from './keys.ts'
import { noHash, rowOf } from './row.ts'
import type { AuditEntry } from './row.ts'

/** The key of the advisory lock of PostgreSQL: "audit" in ASCII. */
const lock = 0x61_75_64_69_74

type Host = Pick<ServiceHost, 'database' | 'dialect' | 'afterCommit' | 'scrub'>

/** Appends rows to the audit trail, one appender at a time over all processes. */
export class Chain {
  readonly #host: Host
  readonly #checkpoints: Checkpoints
  readonly #keys: AuditKeys

  constructor(host: Host, checkpoints: Checkpoints, keys: AuditKeys) {
    this.#host = host
    this.#checkpoints = checkpoints
    this.#keys = keys
  }

  /**
   * Appends a row in the transaction of what it tells, so that there is neither without the other. Should be the last
   * write of the transaction, because it holds the lock of all appenders. Rejects with `store_unavailable`; the
   * transaction must then fail.
   */
  async append(transaction: TableQueries, entry: AuditEntry): Promise<void> {
    try {
      await this.#takeTurn(transaction)
      await this.#append(transaction, entry)
    } catch (error) {
      throw unavailable(error)
    }
  }

  /**
   * Appends a row in a transaction of its own. Rejects with `store_unavailable`.
   * @param isKnown whether there is such a row already, so that nothing is appended
   */
  async record(entry: AuditEntry, isKnown?: (transaction: TableQueries) => Promise<boolean>): Promise<void> {
    const work = async (transaction: TableQueries) => {
      await this.#takeTurn(transaction)
      if ((await isKnown?.(transaction)) !== true) await this.#append(transaction, entry)
    }
    try {
      await whenFree(() => this.#host.database.transaction().execute(work))
    } catch (error) {
      throw unavailable(error)
    }
  }

  /**
   * Appends the row of a new master secret, in its transaction: the rows before it keep the key with which they were
   * signed.
   */
  async rotate(transaction: TableQueries, earlier: Pick<ServiceHost, 'deriveKey'>): Promise<void> {
    await this.#takeTurn(transaction)
    const last = await this.#last(transaction)
    await this.#keys.keep(transaction, last?.sequence ?? 0, earlier)
    await this.#append(transaction, { action: 'secret.rotate', actor: { type: 'cli' } })
  }

  async #takeTurn(transaction: TableQueries): Promise<void> {
    // On SQLite a transaction has the lock of all writers from its start.
    if (this.#host.dialect !== 'postgres') return
    const { sql } = await import('kysely')
    await sql`select pg_advisory_xact_lock(${lock})`.execute(transaction)
  }

  async #append(transaction: TableQueries, entry: AuditEntry): Promise<void> {
    const last = await this.#last(transaction)
    const place = { sequence: (last?.sequence ?? 0) + 1, previous: last?.hash ?? noHash, at: new Date() }
    const { row, targetName } = rowOf(entry, place, this.#host.scrub)
    const checkpoint = checkpointOf(row, await this.#keys.present(transaction))
    const mark = { sequence: row.sequence, mac: checkpoint.mac, target_name: targetName }
    await transaction.insertInto('audit').values(row).execute()
    await transaction.insertInto('audit_marks').values(mark).execute()
    await this.#host.afterCommit(transaction, () => this.#checkpoints.add(checkpoint))
  }

  #last(transaction: TableQueries) {
    const query = transaction.selectFrom('audit').select(['sequence', 'hash']).orderBy('sequence', 'desc')
    return query.limit(1).executeTakeFirst()
  }
}

function unavailable(error: unknown): GatewayError {
  return error instanceof GatewayError ? error : new GatewayError('store_unavailable', {}, { cause: error })
}
