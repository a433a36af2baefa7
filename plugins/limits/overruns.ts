import type { ServiceHost } from '../../engine/index.ts'
import type { OverrunsTable } from './table.ts'

/** What is estimated is held, at least, and at most ten times as much. */
const bounds = { least: 1, most: 10 }
/** Factors are counted in tenths. */
const TENTHS = 10
/** The share of requests whose cost a hold covers. */
const covered = 0.95
/** The share of the requests that one API key may have among many. */
const leastShare = 0.2
/** Milliseconds that count, and those of one slot in which the ledger counts them. */
const HOUR = 3_600_000
export const SLOT = 300_000

type Counted = Pick<OverrunsTable, 'model' | 'key_id' | 'overrun'> & { readonly count: number | string }

/** Requests of one API key by how many tenths of their estimate they cost. */
type OfKey = ReadonlyMap<number, number>

/**
 * How many times their estimates the requests of each model cost in the last hour, over all processes: the 95th percentile.
 * So a model whose answers are longer than expected holds more. Asking costs no query.
 */
export class Overruns {
  readonly #host: Pick<ServiceHost, 'rows'>
  #factors: ReadonlyMap<string, number> = new Map()

  constructor(host: Pick<ServiceHost, 'rows'>) {
    this.#host = host
  }

  /** From 1 to 10. */
  of(model: string): number {
    return this.#factors.get(model) ?? bounds.least
  }

  /** Reads what the ledger has counted. */
  async refresh(now = Date.now()): Promise<void> {
    const rows = await this.#host.rows<Counted>(
      `select model, key_id, overrun, sum(count) as count from limits_overruns
        where slot >= ${Math.floor((now - HOUR) / SLOT)} group by model, key_id, overrun`,
    )
    const models = Map.groupBy(rows, ({ model }) => model)
    this.#factors = new Map([...models].map(([model, counted]) => [model, factorOf(keysOf(counted))]))
  }

  /** Forgets what counts no more. */
  async clean(now = Date.now()): Promise<void> {
    await this.#host.rows(`delete from limits_overruns where slot < ${Math.floor((now - HOUR) / SLOT)} returning slot`)
  }
}

/** How many tenths of its estimate a request cost, from 10 to 100. */
export function overrunOf(micros: number, estimate: number): number {
  const tenths = Math.ceil((TENTHS * micros) / Math.max(1, estimate))
  return Math.min(bounds.most * TENTHS, Math.max(bounds.least * TENTHS, tenths))
}

function keysOf(rows: readonly Counted[]): readonly OfKey[] {
  const keys = Map.groupBy(rows, ({ key_id: key }) => key)
  return [...keys.values()].map((ofKey) => new Map(ofKey.map(({ overrun, count }) => [overrun, Number(count)])))
}

function factorOf(keys: readonly OfKey[]): number {
  const counts = keys.map(sumOf)
  const most = mostOfKey(counts)
  const weights = new Map<number, number>()
  for (const [index, key] of keys.entries()) {
    const weight = Math.min(1, most / (counts[index] ?? 1))
    for (const [overrun, count] of key) weights.set(overrun, (weights.get(overrun) ?? 0) + weight * count)
  }
  let rest = (1 - covered) * sumOf(weights)
  const dearestFirst = [...weights].sort(([one], [other]) => other - one)
  const found = dearestFirst.find(([, weight]) => (rest -= weight) < 0)
  return (found?.[0] ?? TENTHS) / TENTHS
}

/** The most requests that one key may count as: a fifth of all that count, or its part among fewer than five keys. */
function mostOfKey(counts: readonly number[]): number {
  const share = Math.max(leastShare, 1 / counts.length)
  const sorted = counts.toSorted((one, other) => other - one)
  let rest = sorted.reduce((sum, count) => sum + count, 0)
  for (const [above, count] of sorted.entries()) {
    const most = (share * rest) / (1 - share * above)
    if (count <= most) return most
    rest -= count
  }
  return Infinity
}

function sumOf(counts: OfKey): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0)
}
