import type { Kysely } from 'kysely'
import type { Tables } from '../../engine/index.ts'
import type { Database } from '../../engine/store/database.ts'

/** The query builder over the tables of services: the engine knows only its own. */
export function tablesOf({ query }: Pick<Database, 'query'>): Kysely<Tables> {
  return query as unknown as Kysely<Tables>
}
