import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import { keyOf, placeOf } from './place.ts'
import type { Place } from './place.ts'
import type { BigInteger, PullsTable, SpendTable } from './table.ts'

const hour = 3_600_000
/** Hours whose spend counts: the current one and those of a day before. */
const day = 24

/** A decision for a model. */
export interface Pull extends Place {
  /** What the request was predicted to cost, in USD; null: the model has no prices. */
  readonly cost: number | null
  /** What the best model by means would have cost less, in USD, from 0. */
  readonly extra: number
}

/** USD of the last 24 hours, as predicted. */
export interface Spent {
  readonly routed: number
  /** What trials and draws cost more than the best models by means. */
  readonly extra: number
}

interface Count extends Place {
  readonly pulls: number
  readonly updatedAt: number
}

/** Counts decisions, and what they cost, over all processes: those of this process at once, others within seconds. */
export class Pulls {
  readonly #host: Pick<ServiceHost, 'database' | 'rows'>
  /** What all processes have written. */
  #written = new Counts()
  /** What this process has not written yet. */
  #added = new Counts()

  constructor(host: Pick<ServiceHost, 'database' | 'rows'>) {
    this.#host = host
  }

  add({ cost, extra, ...place }: Pull): void {
    const now = Date.now()
    this.#added.count({ ...place, pulls: 1, updatedAt: now })
    this.#added.spend(Math.floor(now / hour), { routed: cost ?? 0, extra })
  }

  /** How often a model was chosen there. */
  of(place: Place): number {
    return this.#all(place).reduce((sum, { pulls }) => sum + pulls, 0)
  }

  /** When it was last, in milliseconds since 1970; 0: never. */
  updatedAt(place: Place): number {
    return Math.max(0, ...this.#all(place).map(({ updatedAt }) => updatedAt))
  }

  /** Where models were chosen. */
  places(): readonly Place[] {
    return [...this.#written.places.values(), ...this.#added.places.values()]
  }

  get spent(): Spent {
    const first = Math.floor(Date.now() / hour) - day
    const spends = [...this.#written.hours, ...this.#added.hours].filter(([at]) => at >= first)
    return spends.reduce((sum, [, spent]) => plus(sum, spent), nothing)
  }

  /** Writes what this process has added, and reads what all have written. */
  async follow(): Promise<void> {
    await this.write()
    const first = Math.floor(Date.now() / hour) - day
    const counts = await this.#host.rows<BigInteger<PullsTable, 'pulls' | 'updated_at'>>(
      'select model, mode, tier, pulls, updated_at from experience_pulls',
    )
    const spend = await this.#host.rows<SpendTable>(
      `select hour, routed, extra from experience_spend where hour >= ${first}`,
    )
    const written = new Counts()
    for (const { pulls, updated_at: at, ...row } of counts)
      written.count({ ...placeOf(row), pulls: Number(pulls), updatedAt: Number(at) })
    for (const { hour: at, ...spent } of spend) written.spend(at, spent)
    this.#written = written
  }

  /** Writes what this process has added; what cannot be written is written the next time. */
  async write(): Promise<void> {
    const added = this.#added
    if (added.places.size === 0) return
    this.#added = new Counts()
    try {
      await this.#host.database.transaction().execute((transaction) => writeCounts(transaction, added))
    } catch (error) {
      for (const count of added.places.values()) this.#added.count(count)
      for (const [at, spent] of added.hours) this.#added.spend(at, spent)
      throw error
    }
  }

  /** Forgets how often a model was chosen, or all (undefined), in a transaction. */
  async reset(model: string | undefined, transaction: TableQueries): Promise<void> {
    const rows = transaction.deleteFrom('experience_pulls')
    await (model === undefined ? rows : rows.where('model', '=', model)).execute()
  }

  /** Forgets it in memory. */
  forget(model: string | undefined): void {
    for (const { places } of [this.#written, this.#added])
      for (const [key, one] of places) if (model === undefined || one.model === model) places.delete(key)
  }

  #all(place: Place): readonly Count[] {
    const key = keyOf(place)
    return [this.#written, this.#added].flatMap(({ places }) => places.get(key) ?? [])
  }
}

class Counts {
  readonly places = new Map<string, Count>()
  readonly hours = new Map<number, Spent>()

  count(one: Count): void {
    const key = keyOf(one)
    const { pulls = 0, updatedAt = 0 } = this.places.get(key) ?? {}
    this.places.set(key, { ...one, pulls: pulls + one.pulls, updatedAt: Math.max(updatedAt, one.updatedAt) })
  }

  /** @param at hours since 1970 */
  spend(at: number, spent: Spent): void {
    this.hours.set(at, plus(this.hours.get(at) ?? nothing, spent))
  }
}

const nothing: Spent = { routed: 0, extra: 0 }

function plus(one: Spent, other: Spent): Spent {
  return { routed: one.routed + other.routed, extra: one.extra + other.extra }
}

/** Adds to what is written, in one order, so that several processes do not wait for one another in a circle. */
async function writeCounts(transaction: TableQueries, { places, hours }: Counts): Promise<void> {
  const counts = [...places].sort(([one], [other]) => (one < other ? -1 : 1))
  await transaction
    .insertInto('experience_pulls')
    .values(counts.map(([, { updatedAt, ...count }]) => ({ ...count, updated_at: updatedAt })))
    .onConflict((conflict) =>
      conflict.columns(['model', 'mode', 'tier']).doUpdateSet((of) => ({
        pulls: of('experience_pulls.pulls', '+', of.ref('excluded.pulls')),
        updated_at: of.ref('excluded.updated_at'),
      })),
    )
    .execute()
  const spends = [...hours].sort(([one], [other]) => one - other)
  await transaction
    .insertInto('experience_spend')
    .values(spends.map(([at, spent]) => ({ hour: at, ...spent })))
    .onConflict((conflict) =>
      conflict.column('hour').doUpdateSet((of) => ({
        routed: of('experience_spend.routed', '+', of.ref('excluded.routed')),
        extra: of('experience_spend.extra', '+', of.ref('excluded.extra')),
      })),
    )
    .execute()
}
