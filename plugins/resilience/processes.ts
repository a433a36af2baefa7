import { randomUUIDv7 } from 'node:crypto'
import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import { isObject, parseJson } from '../../engine/kit.ts'
import type { Told } from './breaker-rows.ts'
import type { ResetsTable } from './table.ts'

/** Milliseconds between two looks for resets, after which what this process tells is at most out of date. */
const looks = 500
/** Milliseconds after which a process tells its figures again, even if no state has changed. */
const telling = 5_000
/** Milliseconds after which a process that tells nothing is taken for dead. */
const alive = 15_000
/** Milliseconds for which resets are kept; clocks of machines may differ by less. */
const kept = 60_000

type Reset = Pick<ResetsTable, 'provider' | 'model'>

/** What the processes that share a database tell one another about breakers. Idle until this process has one. */
export class Processes {
  readonly #host: Pick<ServiceHost, 'database' | 'rows' | 'log'>
  readonly #tell: () => Told
  readonly #reset: (reset: Reset) => void
  readonly #id = randomUUIDv7()
  readonly #started = Date.now()
  /** Resets that hold in this process, and when that was. */
  readonly #applied = new Map<string, number>()
  #timer: NodeJS.Timeout | undefined
  #looking = false
  #told = ''
  #toldAt = -Infinity
  #failing = false

  /**
   * @param tell what this process has to tell
   * @param reset resets breakers of this process
   */
  constructor(
    host: Pick<ServiceHost, 'database' | 'rows' | 'log'>,
    { tell, reset }: { readonly tell: () => Told; readonly reset: (reset: Reset) => void },
  ) {
    this.#host = host
    this.#tell = tell
    this.#reset = reset
  }

  /** Begins to tell, and to listen. */
  start(): void {
    this.#timer ??= setInterval(() => void this.#look(), looks).unref()
  }

  /** What the other processes that are alive have told. Without a database it is unknown, which is logged. */
  async others(): Promise<readonly Told[]> {
    try {
      const rows = await this.#host.rows<{ state: string }>(
        `select state from resilience_processes where id <> '${this.#id}' and seen_at > ${Date.now() - alive}`,
      )
      return rows.flatMap(({ state }) => toldIn(state) ?? [])
    } catch (error) {
      this.#host.log.warn({ err: error }, 'the breakers of other processes are not known')
      return []
    }
  }

  /** Tells the other processes of a reset, in the transaction that makes it. */
  async announce(transaction: TableQueries, reset: Reset): Promise<void> {
    const id = randomUUIDv7()
    const at = Date.now()
    this.#applied.set(id, at)
    await transaction
      .deleteFrom('resilience_resets')
      .where('at', '<', at - kept)
      .execute()
    await transaction
      .insertInto('resilience_resets')
      .values({ id, at, ...reset })
      .execute()
  }

  /** Tells nothing any more. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    if (this.#toldAt > 0)
      await this.#host.rows(`delete from resilience_processes where id = '${this.#id}' returning id`)
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      await this.#listen()
      await this.#publish()
      this.#failing = false
    } catch (error) {
      if (!this.#failing) this.#host.log.warn({ err: error }, 'processes cannot tell one another about breakers')
      this.#failing = true
    } finally {
      this.#looking = false
    }
  }

  async #listen(): Promise<void> {
    const now = Date.now()
    const since = Math.max(this.#started, now - kept)
    const resets = await this.#host.rows<ResetsTable>(
      `select id, provider, model from resilience_resets where at >= ${since}`,
    )
    for (const { id, ...reset } of resets) {
      if (this.#applied.has(id)) continue
      this.#applied.set(id, now)
      this.#reset(reset)
    }
    for (const [id, at] of this.#applied) if (at < now - 2 * kept) this.#applied.delete(id)
  }

  /** Tells a state that has changed at once, and figures now and then. */
  async #publish(): Promise<void> {
    const told = this.#tell()
    const states = JSON.stringify([told.breakers.map(({ state, openedTimes }) => [state, openedTimes]), told.keys])
    const now = Date.now()
    if (states === this.#told && now - this.#toldAt < telling) return
    // Base64 has no quotes, so the statement needs no parameters and no query builder.
    const state = Buffer.from(JSON.stringify(told)).toString('base64')
    await this.#host.rows(
      `insert into resilience_processes (id, seen_at, state) values ('${this.#id}', ${now}, '${state}')
       on conflict (id) do update set seen_at = excluded.seen_at, state = excluded.state returning id`,
    )
    await this.#host.rows(`delete from resilience_processes where seen_at < ${now - alive} returning id`)
    this.#told = states
    this.#toldAt = now
  }
}

/** What another process told; undefined if it is of another version. */
function toldIn(state: string): Told | undefined {
  const told = parseJson(Buffer.from(state, 'base64').toString())
  return isObject(told) && Array.isArray(told['breakers']) && Array.isArray(told['keys'])
    ? (told as unknown as Told)
    : undefined
}
