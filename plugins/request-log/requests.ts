import { hostname } from 'node:os'
import { GatewayError, defineService } from '../../engine/index.ts'
import { duration } from '../../engine/kit.ts'
import type { RowCounters, Scope, Services, Source, Tables } from '../../engine/index.ts'
import { Captures, contextOf } from './captures.ts'
import type { Capture } from './captures.ts'
import type { CleanedUp, Cleanup } from './cleanup.ts'
import type { RequestFilter } from './filter.ts'
import type { JudgedSlice, ListedRow, Slice } from './find.ts'
import { checkLogging, loggingSchema } from './logging.ts'
import type { LoggingSettings } from './logging.ts'
import { NewRows } from './new-rows.ts'
import type { PipelineTimes } from './pipeline-times.ts'
import { RowCharges } from './row-charges.ts'
import type { Charge, ChargeKeeper } from './row-charges.ts'
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
  /** What rows hold beside what every row holds. */
  readonly logging: Pick<LoggingSettings, 'headers' | 'client_address'>
  /**
   * Adds the row of an exchange, without metadata if that is no JSON, and its bodies if they are kept. Never waits,
   * never throws.
   */
  write(row: LogRow, scope?: Pick<Scope, 'id'>): void
  /** Has the row of an exchange carry what it was charged. Never waits, never throws. */
  charge(charge: Charge): void
  /** Says who keeps charges. */
  keepCharges(keeper: ChargeKeeper): void
  /** Counters of the rows of this process. */
  readonly counters: RowCounters
  /** A slice of the rows that match a filter, in the order of their start. */
  slice(filter: RequestFilter, slice: Slice): Promise<ListedRow[]>
  /** The bodies of an exchange; undefined if they are not kept. */
  captured(id: string): Promise<Capture | undefined>
  /** Counts what a cleanup would delete. */
  countOld(cleanup: Cleanup): Promise<CleanedUp>
  deleteOld(cleanup: Cleanup): Promise<CleanedUp>
  /** Deletes what is older than the settings say, unless another process did so within the hour. */
  expire(): Promise<void>
  /** Lets the rows of another table, by their column `id`, be deleted with those of the requests. */
  accompany(table: keyof Tables): void
  /** The row of an exchange. */
  row(id: string): Promise<RequestsTable | undefined>
  /** The rows of some exchanges, in no order. */
  rows(ids: readonly string[]): Promise<RequestsTable[]>
  /** A slice of the rows of routed requests that a judge was asked about, oldest first. */
  judged(slice: JudgedSlice): Promise<RequestsTable[]>
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
  /** How often the steps of a pipeline ran within the last hour, and how long they took. */
  pipelineTimes(pipeline: string): Promise<PipelineTimes>
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

/** One process deletes old rows at a time, and not twice within the hour. */
const lease = 'requests.expire'
const leased = HOUR - 60_000

/** Most streams of new rows that a member may have open in a process. */
const mostTails = 8

function tooManyTails(): GatewayError {
  const message = `At most ${mostTails} streams of new requests may be open at the same time.`
  return new GatewayError('rate_limit_exceeded', {}, { message })
}

/** The query builder is large, so what uses it is loaded with the first query. */
const finding = () => import('./find.ts')
const summing = () => import('./sums-query.ts')
const timing = () => import('./pipeline-times.ts')
const cleaning = () => import('./cleanup.ts')
const adding = () => import('./earlier-rows.ts')

/** Measures the rows that this process hands in. */
function measure(metrics: Services['metrics'], view: Pick<Requests, 'counters'>): void {
  const help = 'Rows of the request log, by what came of them.'
  const rows = metrics.counter({ name: 'sluice_log_rows_total', help, labels: { outcome: ['written', 'lost'] } })
  const queue = metrics.gauge({ name: 'sluice_log_queue', help: 'Rows of the request log that wait.', across: 'sum' })
  metrics.onRead('requests', () => {
    const { written, dropped, pending } = view.counters
    rows({ outcome: 'written' }).set(written)
    rows({ outcome: 'lost' }).set(dropped)
    queue({}).set(pending)
  })
}

type Cause = Awaited<ReturnType<Parameters<Services['notifications']['watch']>[1]['read']>>[number]

/** Milliseconds for which a loss is told after the last row that was lost. */
const recent = 3_600_000

/** Sees that rows of the request log are lost. */
class LostRows {
  #lost = 0
  #since: number | undefined
  #lastAt = -Infinity

  read({ dropped }: Pick<RowCounters, 'dropped'>): readonly Cause[] {
    const now = Date.now()
    if (dropped > this.#lost) {
      if (now - this.#lastAt > recent) this.#since = now
      this.#lastAt = now
    }
    this.#lost = dropped
    if (now - this.#lastAt > recent) return []
    const host = hostname()
    return [
      {
        cause: 'rows_lost',
        key: `rows_lost ${host}`,
        subject: `${dropped} rows of the gateway on ${host} were not written`,
        facts: { host, rows: dropped },
        ...(this.#since !== undefined && { since: this.#since }),
        path: '/configuration',
      },
    ]
  }
}

export default defineService({
  name: 'requests',
  summary: 'The request log: a row of every exchange.',
  migrations,
  seals: [{ table: 'requests_captures', key: 'id', column: 'sealed', context: contextOf }],
  section: 'logging',
  settings: loggingSchema,
  uses: ['metrics', 'notifications', 'guards'],
  check: checkLogging,
  open(host) {
    const rows = host.appender('requests', { waits: true, sums: addUp })
    const charges = new RowCharges()
    const lost = new LostRows()
    const columns = (row: LogRow, charge: Charge | undefined, version: string, problem: string) => {
      try {
        return columnsOf(row, charge, version, host.scrub)
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
    let current: LoggingSettings | undefined
    const companions = new Set<keyof Tables>()
    const cleaned = {
      get database() {
        return host.database
      },
      dialect: host.dialect,
      companions,
    }
    const expire = async ({ retention, capture_retention }: LoggingSettings) => {
      const taken = await host.keyValue.set(lease, Buffer.from('1'), { ttl: leased, version: null })
      if (!taken) return
      const { deleteOld } = await cleaning()
      const before = (kept: string) => Date.now() - duration(kept)
      if (duration(capture_retention) > 0)
        await deleteOld(cleaned, { before: before(capture_retention), capturesOnly: true })
      if (duration(retention) > 0) await deleteOld(cleaned, { before: before(retention) })
    }
    /** Asks without the query builder, which is large. */
    const isExpired = async (table: keyof Tables, kept: string) => {
      if (duration(kept) === 0) return false
      const old = await host.rows(`select id from ${table} where at < ${Date.now() - duration(kept)} limit 1`)
      return old.length > 0
    }
    const expireNow = async () => {
      if (!current) return
      try {
        const { retention, capture_retention: ofCaptures } = current
        if ((await isExpired('requests_captures', ofCaptures)) || (await isExpired('requests', retention)))
          await expire(current)
      } catch (error) {
        host.log.warn({ err: error }, 'old requests cannot be deleted; trying again')
      }
    }
    const stopping = new AbortController()
    let earlier = Promise.resolve()
    const addUpEarlier = async () => {
      try {
        const some = await host.rows('select id from requests_unsummed limit 1')
        if (some.length > 0) await (await adding()).addUpEarlierRows(host, stopping.signal)
      } catch (error) {
        host.log.warn({ err: error }, 'requests of an earlier version cannot be added up; trying again')
      }
    }
    const beginEarlier = () => (earlier = earlier.then(addUpEarlier))
    const hourly = setInterval(() => {
      void forget()
      void expireNow()
      void beginEarlier()
    }, HOUR).unref()
    const newRows = new NewRows(host)
    const captures = new Captures(host)
    const tails = new Map<string, number>()
    let unread = 0
    let hasWritten = false
    const viewOf = (version: string, logging: LoggingSettings): Requests => ({
      logging,
      get counters() {
        return { ...rows.counters, dropped: rows.counters.dropped + unread }
      },
      write(row, scope) {
        // A gateway that never runs for an hour deletes, too. Commands write no rows, so they delete none.
        if (!hasWritten) void expireNow()
        hasWritten = true
        const charge = charges.take(row.id)
        const whole = columns(row, charge, version, 'a log row cannot be written down as it is')
        const stored = whole ?? columns({ ...row, metadata: {} }, charge, version, 'a log row cannot be written down')
        if (stored) rows.append(stored)
        else unread += 1
        if (!stored && charge) charges.keeper?.alone(charge)
        if (scope) captures.store(row, scope)
      },
      charge: (charge) => charges.give(charge),
      keepCharges(keeper) {
        charges.keeper = keeper
        host.appender('requests', { sums: [...addUp, ...keeper.sums] })
      },
      captured: (id) => captures.find(id),
      countOld: async (cleanup) => (await cleaning()).countOld(cleaned, cleanup),
      deleteOld: async (cleanup) => (await cleaning()).deleteOld(cleaned, cleanup),
      expire: () => expire(logging),
      slice: async (filter, slice) => (await finding()).sliceOf(host, filter, slice),
      accompany: (table) => void companions.add(table),
      row: async (id) => (await finding()).rowOf(host, id),
      rows: async (ids) => (await finding()).wholeRows(host, ids),
      judged: async (slice) => (await finding()).judgedOf(host, slice).execute(),
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
      pipelineTimes: async (pipeline) => (await timing()).pipelineTimes(host, pipeline),
      addedUp: async (question) => (await summing()).addedUp(host, question),
      namesOf: async (kind, ids) => (await summing()).namesOf(host, kind, ids),
    })
    return {
      configure(settings, { metrics, notifications, guards }, { version }) {
        const view = viewOf(version, settings)
        return {
          view,
          live() {
            current = settings
            measure(metrics, view)
            notifications.watch('requests', { read: () => lost.read(view.counters) })
            captures.follow(settings, guards)
            void beginEarlier()
          },
        }
      },
      status: () => rows.counters.failing,
      async close() {
        clearInterval(hourly)
        captures.close()
        charges.flush()
        stopping.abort()
        await earlier
      },
    }
  },
})
