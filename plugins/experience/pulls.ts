import type { ServiceHost, TableQueries } from '../../engine/index.ts'
import { PlaceMap, keyOf, placeOf } from './place.ts'
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

type Sum = { -readonly [K in keyof Spent]: Spent[K] }

interface Count extends Place {
  pulls: number
  updatedAt: number
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

  add({ model, mode, tier, cost, extra }: Pull): void {
    const now = Date.now()
    this.#added.count({ model, mode, tier, pulls: 1, updatedAt: now })
    this.#added.spend(Math.floor(now / hour), cost ?? 0, extra)
  }

  /** How often a model was chosen there. */
  of(place: Place): number {
    return (this.#written.places.get(place)?.pulls ?? 0) + (this.#added.places.get(place)?.pulls ?? 0)
  }

  /** When it was last, in milliseconds since 1970; 0: never. */
  updatedAt(place: Place): number {
    return Math.max(this.#written.places.get(place)?.updatedAt ?? 0, this.#added.places.get(place)?.updatedAt ?? 0)
  }

  /** Where models were chosen. */
  places(): readonly Place[] {
    return [...this.#written.places.values(), ...this.#added.places.values()]
  }

  get spent(): Spent {
    const first = Math.floor(Date.now() / hour) - day
    const sum = { routed: 0, extra: 0 }
    const add = (spent: Spent, at: number) => {
      if (at < first) return
      sum.routed += spent.routed
      sum.extra += spent.extra
    }
    this.#written.hours.forEach(add)
    this.#added.hours.forEach(add)
    return sum
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
    for (const { hour: at, routed, extra } of spend) written.spend(at, routed, extra)
    this.#written = written
  }

  /** Writes what this process has added; what cannot be written is written the next time. */
  async write(): Promise<void> {
    const added = this.#added
    if (added.places.isEmpty) return
    this.#added = new Counts()
    try {
      await this.#host.database.transaction().execute((transaction) => writeCounts(transaction, added))
    } catch (error) {
      for (const count of added.places.values()) this.#added.count(count)
      for (const [at, { routed, extra }] of added.hours) this.#added.spend(at, routed, extra)
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
      for (const one of places.values()) if (model === undefined || one.model === model) places.delete(one)
  }
}

class Counts {
  readonly places = new PlaceMap<Count>()
  readonly hours = new Map<number, Sum>()

  count(one: Count): void {
    const known = this.places.get(one)
    if (!known) return this.places.set(one, one)
    known.pulls += one.pulls
    known.updatedAt = Math.max(known.updatedAt, one.updatedAt)
  }

  /** @param at hours since 1970 */
  spend(at: number, routed: number, extra: number): void {
    const known = this.hours.get(at)
    if (!known) return void this.hours.set(at, { routed, extra })
    known.routed += routed
    known.extra += extra
  }
}

/** Adds to what is written, in one order, so that several processes do not wait for one another in a circle. */
async function writeCounts(transaction: TableQueries, { places, hours }: Counts): Promise<void> {
  const counts = [...places.values()].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  await transaction
    .insertInto('experience_pulls')
    .values(counts.map(({ updatedAt, ...count }) => ({ ...count, updated_at: updatedAt })))
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
