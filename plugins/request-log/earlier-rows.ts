import { setTimeout as rest } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ServiceHost } from '../../engine/index.ts'
import { whenFree } from '../../engine/kit.ts'
import { addUp } from './sums.ts'

type Tables = Pick<ServiceHost, 'database' | 'dialect'>

/** Rows that are added up at a time: a few milliseconds on SQLite, whose queries block the process. */
const batch = 100

/** The work takes at most this share of the time; requests have the rest. */
const share = 1 / 4

/**
 * Adds up the rows of versions that had no sums, newest first, until all are or the signal. A row leaves the table
 * `requests_unsummed` in the transaction that adds it up, so each counts once, whichever processes do this and are killed.
 */
export async function addUpEarlierRows(host: Tables & Pick<ServiceHost, 'log'>, signal: AbortSignal): Promise<void> {
  const left = await host.database
    .selectFrom('requests_unsummed')
    .select(sql`count(*)`.as('rows'))
    .execute()
  host.log.info({ rows: Number(left[0]?.rows) }, 'requests of an earlier version are being added up, newest first')
  const start = performance.now()
  for (let all = 0; !signal.aborted;) {
    const began = performance.now()
    const count = await whenFree(() => addUpSome(host))
    all += count
    const ended = performance.now()
    if (count === 0) {
      const seconds = Math.round((ended - start) / 1_000)
      return host.log.info({ rows: all, seconds }, 'requests of an earlier version are added up')
    }
    // The signal ends the pause.
    await rest((ended - began) * (1 / share - 1), undefined, { signal }).catch(() => undefined)
  }
}

/** Adds up the newest of the rows that are left, and resolves to how many were taken. */
function addUpSome({ database, dialect }: Tables): Promise<number> {
  const ofOthers = sql.raw(dialect === 'postgres' ? 'for update skip locked' : '')
  return database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ id: string }>`delete from requests_unsummed where id in (
      select id from requests_unsummed order by id desc limit ${batch} ${ofOthers}) returning id`.execute(transaction)
    if (rows.length === 0) return 0
    const added = sql`select * from requests where id in (${sql.join(rows.map(({ id }) => id))})`
    for (const statement of addUp) await sql`with added as (${added}) ${sql.raw(statement)}`.execute(transaction)
    return rows.length
  })
}
