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
  /** When it began, by `performance.now()`: the clock may be set while a process runs. */
  readonly #began = performance.now()
  /** Resets that this process knows of, and when it last saw them, by `performance.now()`. */
  readonly #known = new Map<string, number>()
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
    this.#known.set(id, performance.now())
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
    if (this.#told !== '')
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
    const resets = await this.#host.rows<ResetsTable>('select id, at, provider, model from resilience_resets')
    const now = performance.now()
    const began = Date.now() - (now - this.#began)
    for (const { id, at, ...reset } of resets) {
      if (!this.#known.has(id) && at >= began) this.#reset(reset)
      this.#known.set(id, now)
    }
    for (const [id, seen] of this.#known) if (seen < now - kept) this.#known.delete(id)
  }

  /** Tells a state that has changed at once, and figures now and then. */
  async #publish(): Promise<void> {
    const told = this.#tell()
    const states = JSON.stringify([told.breakers.map(({ state, openedTimes }) => [state, openedTimes]), told.keys])
    if (states === this.#told && performance.now() - this.#toldAt < telling) return
    const now = Date.now()
    // Base64 has no quotes, so the statement needs no parameters and no query builder.
    const state = Buffer.from(JSON.stringify(told)).toString('base64')
    await this.#host.rows(
      `insert into resilience_processes (id, seen_at, state) values ('${this.#id}', ${now}, '${state}')
       on conflict (id) do update set seen_at = excluded.seen_at, state = excluded.state returning id`,
    )
    await this.#host.rows(`delete from resilience_processes where seen_at < ${now - alive} returning id`)
    this.#told = states
    this.#toldAt = performance.now()
  }
}

/** What another process told; undefined if it is of another version. */
function toldIn(state: string): Told | undefined {
  const told = parseJson(Buffer.from(state, 'base64').toString())
  return isObject(told) && Array.isArray(told['breakers']) && Array.isArray(told['keys'])
    ? (told as unknown as Told)
    : undefined
}
