import { asGatewayError, encodeFrame } from '../../engine/kit.ts'
import type { JsonObject, ServiceHost, Sink, Source } from '../../engine/index.ts'
import type { RequestFilter } from './filter.ts'
import type { ListedRow } from './find.ts'
import type { NewRows } from './new-rows.ts'
import { listItem } from './shown.ts'

/** What a reader of new rows wants. */
export interface TailOptions {
  /** The filter, asked anew for every row: the keys of a member change. */
  readonly filter: () => RequestFilter
  /** Id of the last row that the reader knows. */
  readonly lastId?: string | undefined
  /** Why the reader may not go on; undefined: it may. */
  readonly over: () => Promise<'expired' | 'revoked' | undefined>
  /** Called once, when the stream has ended. */
  readonly closed: () => void
}

/** Most rows that are sent again, and most that wait for a slow reader. */
const most = 1_000

/** Milliseconds between two checks whether the reader may go on. */
const check = 1_000

/** Rows of the request log as server-sent events, while they are written. */
export function tailOf(host: ServiceHost, newRows: NewRows, options: TailOptions): Source {
  return {
    open(sink) {
      const tail = new Tail(host, newRows, options, sink)
      return {
        pause: () => tail.pause(),
        resume: () => tail.resume(),
        cancel: (reason) => tail.end(asGatewayError(reason).code === 'draining' ? 'draining' : undefined),
      }
    },
  }
}

class Tail {
  readonly #host: ServiceHost
  readonly #options: TailOptions
  readonly #sink: Sink
  readonly #leave: () => void
  readonly #checks: NodeJS.Timeout
  /** One piece of work after the other, so that rows keep their order. */
  #work: Promise<void>
  #waiting: string[] | undefined
  #dropped = 0
  /** Rows that were sent again; they may be found as new ones, too. */
  #again: ReadonlySet<string> = new Set()
  #isOver = false

  constructor(host: ServiceHost, newRows: NewRows, options: TailOptions, sink: Sink) {
    this.#host = host
    this.#options = options
    this.#sink = sink
    this.#leave = newRows.listen((ids) => this.#then(() => this.#send(ids)))
    this.#checks = setInterval(() => this.#then(() => this.#check()), check).unref()
    this.#work = Promise.resolve()
    const { lastId } = options
    if (lastId !== undefined) this.#then(() => this.#replay(lastId))
  }

  pause(): void {
    this.#waiting ??= []
  }

  resume(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    while (waiting.length > 0 && this.#waiting === undefined) this.#sink.data(Buffer.from(waiting.shift() as string))
    if (this.#waiting !== undefined) return void (this.#waiting = waiting)
    this.#tellGap()
  }

  /** Ends the stream, with a last event if there is a reason for the reader. */
  end(reason: string | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#leave()
    clearInterval(this.#checks)
    this.#options.closed()
    if (reason !== undefined)
      this.#sink.data(Buffer.from(encodeFrame({ event: 'end', data: JSON.stringify({ reason }) })))
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#isOver) return
      try {
        await work()
      } catch (error) {
        this.#host.log.warn({ err: error }, 'a reader of new rows misses some')
      }
    })
  }

  async #check(): Promise<void> {
    const reason = await this.#options.over()
    if (reason === undefined || this.#isOver) return
    this.end(reason)
    this.#sink.end()
  }

  async #replay(lastId: string): Promise<void> {
    const { rowsSince } = await import('./find.ts')
    const found = await rowsSince(this.#host, lastId, this.#options.filter(), most)
    if (found === undefined || this.#isOver) return
    this.#dropped += found.more
    this.#tellGap()
    this.#again = new Set(found.rows.map(({ id }) => id))
    for (const row of found.rows) this.#push(row)
  }

  async #send(ids: readonly string[]): Promise<void> {
    const { rowsOf } = await import('./find.ts')
    const unsent = ids.filter((id) => !this.#again.has(id))
    for (let from = 0; from < unsent.length; from += most) {
      const some = unsent.slice(from, from + most)
      try {
        const rows = await rowsOf(this.#host, some, this.#options.filter())
        if (this.#isOver) return
        for (const row of rows) this.#push(row)
      } catch (error) {
        this.#dropped += some.length
        this.#tellGap()
        throw error
      }
    }
  }

  #push(row: ListedRow): void {
    this.#write(`id: ${row.id}\n${frame('row', listItem(row))}`)
  }

  #write(text: string): void {
    if (this.#waiting === undefined) return this.#sink.data(Buffer.from(text))
    if (this.#waiting.length < most) this.#waiting.push(text)
    else this.#dropped += 1
  }

  #tellGap(): void {
    if (this.#dropped === 0 || this.#waiting !== undefined) return
    const dropped = this.#dropped
    this.#dropped = 0
    this.#sink.data(Buffer.from(frame('gap', { dropped })))
  }
}

function frame(event: string, data: JsonObject): string {
  return encodeFrame({ event, data: JSON.stringify(data) })
}
