import { GatewayError, defineService } from '../../engine/index.ts'
import type { RowCounters, Scope, Source } from '../../engine/index.ts'
import type { RequestFilter } from './filter.ts'
import type { ListedRow, Slice } from './find.ts'
import { NewRows } from './new-rows.ts'
import { columnsOf } from './row.ts'
import type { LogRow } from './row.ts'
import { HOUR, addUp, expired } from './sums.ts'
import type { Cell, SumsQuestion } from './sums-query.ts'
import { migrations } from './table.ts'
import type { RequestsTable } from './table.ts'
import { tailOf } from './tail.ts'
import type { TailOptions } from './tail.ts'

/** The request log. */
export interface Requests {
  /** Adds the row of an exchange, without metadata if that is no JSON. Never waits, never throws. */
  write(row: LogRow): void
  /** Counters of the rows of this process. */
  readonly counters: RowCounters
  /** A slice of the rows that match a filter, in the order of their start. */
  slice(filter: RequestFilter, slice: Slice): Promise<ListedRow[]>
  /** The row of an exchange. */
  row(id: string): Promise<RequestsTable | undefined>
  /**
   * New rows as server-sent events. Throws `rate_limit_exceeded` if the member has too many such streams.
   * @param scope the exchange that the stream answers
   */
  tail(member: string, scope: Pick<Scope, 'onEnd'>, options: Omit<TailOptions, 'closed'>): Source
  /** The latest rows that match a filter, at most `limit`, newest first. */
  latest(filter: RequestFilter, limit: number): Promise<RequestsTable[]>
  /** The row of an exchange, by its id, otherwise by the client's request id; the newest of several. */
  find(id: string): Promise<RequestsTable | undefined>
  /** The rows of the exchanges that are parts of another one, oldest first. */
  partsOf(id: string): Promise<RequestsTable[]>
  /** Rows added up, in the order of time and group; undefined if there are too many cells. */
  addedUp(question: SumsQuestion): Promise<readonly Cell[] | undefined>
  /** The last known names of keys or members, which may be deleted by now. */
  namesOf(kind: 'key' | 'member', ids: readonly string[]): Promise<ReadonlyMap<string, string>>
}

declare module '../../engine/index.ts' {
  interface Services {
    requests: Requests
  }
}

/** Most streams of new rows that a member may have open in a process. */
const mostTails = 8

function tooManyTails(): GatewayError {
  const message = `At most ${mostTails} streams of new requests may be open at the same time.`
  return new GatewayError('rate_limit_exceeded', {}, { message })
}

/** The query builder is large, so what uses it is loaded with the first query. */
const finding = () => import('./find.ts')
const summing = () => import('./sums-query.ts')

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
    const newRows = new NewRows(host)
    const tails = new Map<string, number>()
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
      slice: async (filter, slice) => (await finding()).sliceOf(host, filter, slice),
      row: async (id) => (await finding()).rowOf(host, id),
      tail(member, scope, options) {
        const count = tails.get(member) ?? 0
        if (count >= mostTails) throw tooManyTails()
        tails.set(member, count + 1)
        let isOpen = true
        const closed = () => {
          if (isOpen) tails.set(member, (tails.get(member) ?? 1) - 1)
          isOpen = false
        }
        const source = tailOf(host, newRows, { ...options, closed })
        let isRead = false
        // A stream that was not even begun is not open either.
        scope.onEnd?.(() => isRead || closed())
        return {
          open(sink) {
            isRead = true
            return source.open(sink)
          },
        }
      },
      latest: async (filter, limit) => (await finding()).latestRequests(host, filter, limit),
      find: async (id) => (await finding()).requestOf(host, id),
      partsOf: async (id) => (await finding()).partsOf(host, id),
      addedUp: async (question) => (await summing()).addedUp(host, question),
      namesOf: async (kind, ids) => (await summing()).namesOf(host, kind, ids),
    })
    return {
      configure: (_settings, _views, { version }) => ({ view: viewOf(version) }),
      status: () => rows.counters.failing,
      close: () => clearInterval(forgetting),
    }
  },
})
