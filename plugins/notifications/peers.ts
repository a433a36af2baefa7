import { randomUUIDv7 } from 'node:crypto'
import type { ServiceHost } from '../../engine/index.ts'
import { parseJson } from '../../engine/kit.ts'
import type { Cause } from './cause.ts'
import type { ProcessesTable } from './table.ts'

/** Milliseconds after which a process tells the same again, and after which one that tells nothing is taken for gone. */
const telling = 5_000
const alive = 15_000
/** Milliseconds for which a process may speak for all without asking again. */
const leased = 10_000
const lease = 'notifications.speaker'

/** The processes that share the stores: what each sees, and which one speaks for all. */
export class Peers {
  readonly id = randomUUIDv7()
  readonly #host: Pick<ServiceHost, 'keyValue' | 'rows'>
  #told = ''
  #toldAt = -Infinity

  constructor(host: Pick<ServiceHost, 'keyValue' | 'rows'>) {
    this.#host = host
  }

  /** Whether this process speaks for all. Rejects if the store does not tell. */
  async leads(): Promise<boolean> {
    const { keyValue } = this.#host
    const own = Buffer.from(this.id)
    if (await keyValue.set(lease, own, { ttl: leased, version: null })) return true
    const held = await keyValue.get(lease)
    if (!held?.value.equals(own)) return false
    return keyValue.set(lease, own, { ttl: leased, version: held.version })
  }

  /** Tells the others what this process sees: at once what is new, and now and then that it is still there. */
  async tell(causes: readonly Cause[]): Promise<void> {
    const text = JSON.stringify(causes)
    const now = performance.now()
    if (text === this.#told && now - this.#toldAt < telling) return
    // Base64 has no quotes, so the statement needs no parameters and no query builder.
    const row = `'${this.id}', ${Date.now()}, '${Buffer.from(text).toString('base64')}'`
    await this.#host.rows(
      `insert into notifications_processes (id, seen_at, causes) values (${row})
       on conflict (id) do update set seen_at = excluded.seen_at, causes = excluded.causes returning id`,
    )
    await this.#host.rows(`delete from notifications_processes where seen_at < ${Date.now() - alive} returning id`)
    this.#told = text
    this.#toldAt = now
  }

  /** What the other processes see. */
  async others(): Promise<readonly Cause[]> {
    const rows = await this.#host.rows<Pick<ProcessesTable, 'causes'>>(
      `select causes from notifications_processes where id <> '${this.id}' and seen_at > ${Date.now() - alive}`,
    )
    return rows.flatMap(({ causes }) => {
      const told = parseJson(Buffer.from(causes, 'base64').toString())
      return Array.isArray(told) ? told : []
    })
  }

  /**
   * What it saw is not seen any more, and another process may speak at once.
   * @param leads whether this one has spoken for all
   */
  async leave(leads: boolean): Promise<void> {
    if (this.#toldAt > 0)
      await this.#host.rows(`delete from notifications_processes where id = '${this.id}' returning id`)
    if (!leads) return
    const held = await this.#host.keyValue.get(lease)
    if (held?.value.toString() === this.id) await this.#host.keyValue.delete(lease)
  }
}
