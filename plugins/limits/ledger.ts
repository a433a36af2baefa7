import { setTimeout as pause } from 'node:timers/promises'
import type { Appender, RowCounters, ServiceHost, Services, TableQueries } from '../../engine/index.ts'
import { server } from './bucket.ts'
import type { Seed } from './counters.ts'
import { SLOT } from './overruns.ts'
import { DAY } from './period.ts'
import type { Period } from './period.ts'
import type { LedgerTable, SumsTable } from './table.ts'

/** Milliseconds for which a row is kept. */
const KEPT = 3_600_000

/** Milliseconds for which a sum is compared after its last use where other machines spend, too: longer than it is kept. */
const COMPARED = 3_720_000

/** Rows deleted at once, few enough that SQLite does not block the event loop for long, and milliseconds in between. */
const BATCH = 500
const PAUSE = 20

/** Adds charges to the sums of their buckets and days, except those from before a reset. */
const addToSums = (charges: string) => `
  insert into limits_sums (bucket, day, micros)
  select charged.bucket, charged.at / ${DAY}, sum(charged.micros)
  from (
    select '${server}' as bucket, at, micros from ${charges}
    union all select 'key:' || key_id, at, micros from ${charges} where key_id is not null
    union all select 'member:' || member_id, at, micros from ${charges} where member_id is not null
  ) as charged
  left join limits_resets on limits_resets.bucket = charged.bucket
  where charged.at >= coalesce(limits_resets.at, 0)
  group by charged.bucket, charged.at / ${DAY}
  order by charged.bucket, charged.at / ${DAY}
  on conflict (bucket, day) do update set micros = limits_sums.micros + excluded.micros`

/** Counts charges by what they are of their estimates. */
const countOverruns = (charges: string) => `
  insert into limits_overruns (model, key_id, slot, overrun, count)
  select model, coalesce(key_id, ''), at / ${SLOT}, overrun, count(*)
  from ${charges}
  where model is not null and overrun is not null
  group by model, coalesce(key_id, ''), at / ${SLOT}, overrun
  order by model, coalesce(key_id, ''), at / ${SLOT}, overrun
  on conflict (slot, model, key_id, overrun) do update set count = limits_overruns.count + excluded.count`

const columns = 'id, at, key_id, member_id, micros, model, overrun'

/** The charges in a batch of rows of the request log, but for those of exchanges that are charged already. */
const carried = `(
  select id, charged_at as at, key_id, member_id, charged_micros as micros, model, charged_overrun as overrun
  from added
  where charged_micros is not null and not exists (select 1 from limits_ledger where limits_ledger.id = added.id)
) as carried`

const keepCarried = `insert into limits_ledger (${columns}) select ${columns} from ${carried} where true on conflict do nothing`

/** The key of an advisory lock of PostgreSQL: "sums" in ASCII. */
const LOCK = 0x73_75_6d_73

/**
 * Statements for a batch of charges. On PostgreSQL, a reset that is not committed yet is waited for: what it forgets would
 * otherwise be added after it. On SQLite, transactions run one after the other.
 */
function sumsOf(charges: string, dialect: ServiceHost['dialect']): readonly string[] {
  const sums = [addToSums(charges), countOverruns(charges)]
  return dialect === 'postgres' ? [`select pg_advisory_xact_lock_shared(${LOCK})`, ...sums] : sums
}

/** A sum to look up: what a bucket has spent since the start of a period. */
export interface Wanted {
  readonly bucket: string
  readonly period: Period
  readonly start: number
}

/**
 * The truth about what was spent: a row per exchange that cost something. Its id is that of the exchange, so that
 * nothing is charged twice. The thread that writes the rows adds them to a sum per bucket and day, in the same
 * transaction.
 */
export class Ledger {
  readonly #host: Pick<ServiceHost, 'database' | 'rows' | 'afterCommit' | 'dialect'>
  readonly #rows: Appender<LedgerTable>

  constructor(host: Pick<ServiceHost, 'database' | 'rows' | 'afterCommit' | 'appender' | 'dialect' | 'connectRedis'>) {
    this.#host = host
    this.compared = host.dialect === 'postgres' && !host.connectRedis ? COMPARED : 0
    this.#rows = host.appender('limits_ledger', { waits: true, sums: sumsOf('added', host.dialect) })
  }

  /**
   * Milliseconds for which a sum is to be compared with the ledger after its last use. 0: once, because whoever counts
   * knows what others spend.
   */
  readonly compared: number

  get counters(): RowCounters {
    return this.#rows.counters
  }

  /** Never waits, never throws. */
  charge(row: LedgerTable): void {
    this.#rows.append(row)
  }

  /** What has rows of exchanges carry their charges, which are written with them. */
  get keeper(): Parameters<Services['requests']['keepCharges']>[0] {
    const sums = [...sumsOf(carried, this.#host.dialect), keepCarried]
    return { sums: sums.map((sum) => ({ with: 'charged_micros', sum })), alone: (charge) => this.charge(charge) }
  }

  /** What was spent, as far as rows were written. Rejects while the database fails. */
  async spent(wanted: readonly Wanted[]): Promise<Seed[]> {
    if (wanted.length === 0) return []
    const { database } = this.#host
    const buckets = [...new Set(wanted.map(({ bucket }) => bucket))]
    // Read first: a reset between the two reads is then still to be applied to the sums.
    const resets = await database.selectFrom('limits_resets').selectAll().where('bucket', 'in', buckets).execute()
    const resetAt = new Map(resets.map(({ bucket, at }) => [bucket, at]))
    const spent = new Map<number, ReadonlyMap<string, number>>()
    for (const start of new Set(wanted.map((one) => one.start))) spent.set(start, await this.#sums(buckets, start))
    return wanted.map(({ bucket, period, start }) => ({
      bucket,
      period,
      since: Math.max(start, resetAt.get(bucket) ?? 0),
      spent: spent.get(start)?.get(bucket) ?? 0,
    }))
  }

  /** Some buckets that have spent something within the longest period with an end. Rejects while the database fails. */
  async spenders(most: number): Promise<readonly string[]> {
    const since = Math.floor(Date.now() / DAY) - 31
    const rows = await this.#host.rows<Pick<SumsTable, 'bucket'>>(
      `select distinct bucket from limits_sums where day >= ${since} and micros > 0 limit ${most}`,
    )
    return rows.map(({ bucket }) => bucket)
  }

  /** Forgets what a bucket has spent. `done` runs after the commit. */
  async reset(bucket: string, at: number, done: () => Promise<void>, transaction?: TableQueries): Promise<void> {
    const within = async (queries: TableQueries) => {
      if (this.#host.dialect === 'postgres') {
        const { sql } = await import('kysely')
        await sql`select pg_advisory_xact_lock(${LOCK})`.execute(queries)
      }
      await queries
        .insertInto('limits_resets')
        .values({ bucket, at })
        .onConflict((conflict) => conflict.column('bucket').doUpdateSet({ at }))
        .execute()
      await queries.updateTable('limits_sums').set({ micros: 0 }).where('bucket', '=', bucket).execute()
      await this.#host.afterCommit(queries, done)
    }
    await (transaction ? within(transaction) : this.#host.database.transaction().execute(within))
  }

  /** Adds to what a bucket has spent in the current period, today; what was spent in all has no day. */
  async add(
    bucket: string,
    { micros, period }: { readonly micros: number; readonly period: Period },
    transaction: TableQueries,
  ): Promise<void> {
    const day = period === 'total' ? 0 : Math.floor(Date.now() / DAY)
    await transaction
      .insertInto('limits_sums')
      .values({ bucket, day, micros })
      .onConflict((conflict) =>
        conflict.columns(['bucket', 'day']).doUpdateSet((eb) => ({ micros: eb('limits_sums.micros', '+', micros) })),
      )
      .execute()
  }

  /** Deletes old rows, which are in the sums. */
  async clean(): Promise<void> {
    const old = `select id from limits_ledger where at < ${Date.now() - KEPT} limit ${BATCH}`
    const some = () => this.#host.rows(`delete from limits_ledger where id in (${old}) returning id`)
    while ((await some()).length === BATCH) await pause(PAUSE)
  }

  async #sums(buckets: readonly string[], start: number): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#host.database
      .selectFrom('limits_sums')
      .select(({ fn }) => ['bucket', fn.sum<number | string>('micros').as('micros')])
      .where('bucket', 'in', buckets)
      .where('day', '>=', Math.floor(start / DAY))
      .groupBy('bucket')
      .execute()
    return new Map(rows.map(({ bucket, micros }) => [bucket, Number(micros)]))
  }
}
