import type { TableQueries } from '../../engine/index.ts'
import type { RequestsTable } from './table.ts'

/** A filter for rows. An absent field matches every value. */
export interface RequestFilter {
  /** Id of a key's record. */
  readonly keyId?: string
  /** The requested model or the one that served. */
  readonly model?: string
  readonly provider?: string
  readonly type?: string
  /** The lowest and the highest status. */
  readonly status?: readonly [number, number]
  /** Only exchanges that did not complete. */
  readonly failed?: boolean
  /** Earliest start of the exchanges, in milliseconds since 1970. */
  readonly since?: number
  /** Earliest end of the exchanges, in milliseconds since 1970. */
  readonly endedSince?: number
}

/** The latest rows that match a filter, at most `limit`, newest first. */
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

/** The rows of the exchanges that are parts of another one, oldest first. */
export function partsOf(queries: TableQueries, id: string): Promise<RequestsTable[]> {
  return queries.selectFrom('requests').selectAll().where('parent', '=', id).orderBy('at').orderBy('id').execute()
}

/** The row of an exchange, by its id, otherwise by the client's request id; the newest of several. */
export async function requestOf(queries: TableQueries, id: string): Promise<RequestsTable | undefined> {
  const rows = queries.selectFrom('requests').selectAll()
  const [found] = await rows.where('id', '=', id).execute()
  if (found) return found
  return rows.where('reference', '=', id).orderBy('at', 'desc').limit(1).executeTakeFirst()
}
