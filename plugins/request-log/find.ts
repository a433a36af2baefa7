import type { TableQueries } from '../../engine/index.ts'
import type { RequestsTable } from './table.ts'

/** Which rows are wanted. Those that say nothing about a column take every value of it. */
export interface RequestFilter {
  /** Id of a key's record. */
  readonly keyId?: string
  /** The model that was asked for or that served. */
  readonly model?: string
  readonly provider?: string
  readonly type?: string
  /** The lowest and the highest status. */
  readonly status?: readonly [number, number]
  /** Only what did not complete. */
  readonly failed?: boolean
  /** Milliseconds since 1970 at which the exchanges began at the earliest. */
  readonly since?: number
  /** The same for when they ended. */
  readonly endedSince?: number
}

/** The latest rows that a filter takes, at most `limit`, the newest first. */
export function latestRequests(queries: TableQueries, filter: RequestFilter, limit: number): Promise<RequestsTable[]> {
  const { keyId, model, provider, type, status, failed, since, endedSince } = filter
  return queries
    .selectFrom('requests')
    .selectAll()
    .$if(keyId !== undefined, (rows) => rows.where('key_id', '=', keyId as string))
    .$if(provider !== undefined, (rows) => rows.where('provider', '=', provider as string))
    .$if(type !== undefined, (rows) => rows.where('type', '=', type as string))
    .$if(failed === true, (rows) => rows.where('result', '<>', 'completed'))
    .$if(since !== undefined, (rows) => rows.where('at', '>=', since as number))
    .$if(endedSince !== undefined, (rows) =>
      rows.where((row) => row(row('at', '+', row.ref('duration')), '>=', endedSince as number)),
    )
    .$if(status !== undefined, (rows) =>
      rows
        .where('status', '>=', (status as [number, number])[0])
        .where('status', '<=', (status as [number, number])[1]),
    )
    .$if(model !== undefined, (rows) =>
      rows.where((row) => row.or([row('requested', '=', model as string), row('model', '=', model as string)])),
    )
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

/** The rows of the exchanges that were a part of another one, the oldest first. */
export function partsOf(queries: TableQueries, id: string): Promise<RequestsTable[]> {
  return queries.selectFrom('requests').selectAll().where('parent', '=', id).orderBy('at').orderBy('id').execute()
}

/** The row of an exchange, by its id or else by the client's own name for it; the newest of several. */
export async function requestOf(queries: TableQueries, id: string): Promise<RequestsTable | undefined> {
  const rows = queries.selectFrom('requests').selectAll()
  const [found] = await rows.where('id', '=', id).execute()
  if (found) return found
  return rows.where('reference', '=', id).orderBy('at', 'desc').limit(1).executeTakeFirst()
}
