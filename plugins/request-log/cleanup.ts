import { setTimeout as rest } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Tables as AllTables } from '../../engine/index.ts'
import { whenFree } from '../../engine/kit.ts'
import { conditionOf } from './condition.ts'
import type { Tables } from './find.ts'

/** What is deleted. */
export interface Cleanup {
  /** Rows whose exchanges began earlier, in milliseconds since 1970. */
  readonly before: number
  /** Only rows of these types. */
  readonly types?: readonly string[] | undefined
  /** Whether the rows stay, without their bodies. */
  readonly capturesOnly?: boolean
}

export interface CleanedUp {
  readonly rows: number
  readonly captures: number
}

/** Rows that are deleted at a time, and milliseconds between two times: requests go on meanwhile. */
const batch = 100
const pause = 10

type Cleaned = 'requests' | 'requests_captures'

/** How many rows and captures a cleanup would delete. */
export async function countOld(tables: Tables, cleanup: Cleanup): Promise<CleanedUp> {
  const count = async (table: Cleaned) => {
    const counted = sql<{ all: number | string }>`select count(*) as "all" from ${sql.table(table)}
      where ${conditionOf(filterOf(cleanup), tables.dialect)}`
    return Number((await counted.execute(tables.database)).rows[0]?.all ?? 0)
  }
  return { rows: cleanup.capturesOnly ? 0 : await count('requests'), captures: await count('requests_captures') }
}

/** The tables of the log, and those whose rows go with the requests of the same `id`. */
export interface CleanedTables extends Tables {
  readonly companions: ReadonlySet<keyof AllTables>
}

/** Deletes old rows with their captures and all that belongs to them, in small batches. */
export async function deleteOld(tables: CleanedTables, cleanup: Cleanup): Promise<CleanedUp> {
  const captures = await emptied(tables, 'requests_captures', cleanup)
  return { rows: cleanup.capturesOnly ? 0 : await emptied(tables, 'requests', cleanup), captures }
}

async function emptied({ database, dialect, companions }: CleanedTables, table: Cleaned, cleanup: Cleanup) {
  const name = sql.table(table)
  const old = sql`select id from ${name} where ${conditionOf(filterOf(cleanup), dialect)} order by at limit ${batch}`
  for (let all = 0; ;) {
    // What belongs to a request goes first: if this is interrupted, the next cleanup still finds it.
    if (table === 'requests')
      for (const companion of companions)
        await whenFree(() => sql`delete from ${sql.table(companion)} where id in (${old})`.execute(database))
    const { numAffectedRows = 0n } = await whenFree(() =>
      sql`delete from ${name} where id in (${old})`.execute(database),
    )
    all += Number(numAffectedRows)
    if (numAffectedRows < batch) return all
    await rest(pause)
  }
}

function filterOf({ before, types }: Cleanup) {
  return { until: before, words: { type: types } }
}
