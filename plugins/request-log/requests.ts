import { defineService } from '../../engine/index.ts'
import type { RowCounters } from '../../engine/index.ts'
import { latestRequests, partsOf, requestOf } from './find.ts'
import type { RequestFilter } from './find.ts'
import { columnsOf } from './row.ts'
import type { LogRow } from './row.ts'
import { HOUR, addUp, expired } from './sums.ts'
import { migrations } from './table.ts'
import type { RequestsTable } from './table.ts'

/** The request log. */
export interface Requests {
  /** Adds the row of an exchange, without metadata if that is no JSON. Never waits, never throws. */
  write(row: LogRow): void
  /** Counters of the rows of this process. */
  readonly counters: RowCounters
  /** The latest rows that match a filter, at most `limit`, newest first. */
  latest(filter: RequestFilter, limit: number): Promise<RequestsTable[]>
  /** The row of an exchange, by its id, otherwise by the client's request id; the newest of several. */
  find(id: string): Promise<RequestsTable | undefined>
  /** The rows of the exchanges that are parts of another one, oldest first. */
  partsOf(id: string): Promise<RequestsTable[]>
}

declare module '../../engine/index.ts' {
  interface Services {
    requests: Requests
  }
}

export default defineService({
  name: 'requests',
  summary: 'The request log: a row of every exchange.',
  migrations,
  open(host) {
    const rows = host.appender('requests', { waits: true, sums: addUp })
    const columns = (row: LogRow, version: string, problem: string): RequestsTable | undefined => {
      try {
        return columnsOf(row, version, host.scrub)
      } catch (error) {
        host.log.error({ err: error }, problem)
        return undefined
      }
    }
    const forget = async () => {
      try {
        for (const statement of expired(Date.now())) await host.rows(statement)
      } catch (error) {
        host.log.warn({ err: error }, 'old sums cannot be deleted; trying again')
      }
    }
    const forgetting = setInterval(() => void forget(), HOUR).unref()
    let unread = 0
    const viewOf = (version: string): Requests => ({
      get counters() {
        return { ...rows.counters, dropped: rows.counters.dropped + unread }
      },
      write(row) {
        const whole = columns(row, version, 'a log row cannot be written down as it is')
        const stored = whole ?? columns({ ...row, metadata: {} }, version, 'a log row cannot be written down')
        if (stored) rows.append(stored)
        else unread += 1
      },
      latest: (filter, limit) => latestRequests(host.database, filter, limit),
      find: (id) => requestOf(host.database, id),
      partsOf: (id) => partsOf(host.database, id),
    })
    return {
      configure: (_settings, _views, { version }) => ({ view: viewOf(version) }),
      status: () => rows.counters.failing,
      close: () => clearInterval(forgetting),
    }
  },
})
