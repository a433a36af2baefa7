import { performance } from 'node:perf_hooks'
import type { CoolingKey } from '../../engine/index.ts'
import type { CircuitState } from './circuit.ts'
import type { BreakerRules, Health, LastError } from './health.ts'

/** The breaker of one process. Times are in milliseconds since 1970. */
export interface ProcessBreaker {
  readonly provider: string
  readonly model: string | null
  readonly state: CircuitState
  /** Within the window. */
  readonly failures: number
  readonly requests: number
  readonly openedAt: number | null
  readonly retryAt: number | null
  readonly openedTimes: number
  readonly lastError: LastError | null
}

/** A key that a provider is not asked with at present. */
export interface PooledKey extends CoolingKey {
  readonly provider: string
}

/** What a process tells the others. */
export interface Told {
  readonly breakers: readonly ProcessBreaker[]
  readonly keys: readonly PooledKey[]
}

/** A breaker over all processes. */
export interface BreakerRow extends ProcessBreaker {
  /** How many processes have it in each state. */
  readonly processes: Readonly<Record<CircuitState, number>>
}

/** The breaker as it is now, with times that other processes understand. */
export function breakerOf({ provider, model, circuit, lastError }: Health, rules: BreakerRules): ProcessBreaker {
  const now = performance.now()
  const { state, openedAt, retryAt, openedTimes } = circuit
  const since = Math.round(Date.now() - now)
  const time = (at: number | undefined) => (at === undefined ? null : since + Math.round(at))
  return {
    provider,
    model,
    state,
    ...circuit.figures(now, rules),
    openedAt: time(openedAt),
    retryAt: time(retryAt),
    openedTimes,
    lastError,
  }
}

const severity: Readonly<Record<CircuitState, number>> = { closed: 0, half_open: 1, open: 2 }

/** One row per provider and model. Its state and times are those of the process where it is worst. */
export function merged(told: readonly Told[]): readonly BreakerRow[] {
  const groups = Map.groupBy(
    told.flatMap(({ breakers }) => breakers),
    ({ provider, model }) => JSON.stringify([provider, model]),
  )
  return [...groups.values()].map((all) => {
    const [worst] = all.toSorted(
      (one, other) => severity[other.state] - severity[one.state] || (other.retryAt ?? 0) - (one.retryAt ?? 0),
    ) as [ProcessBreaker]
    const errors = all.flatMap(({ lastError }) => lastError ?? [])
    const total = (figure: (one: ProcessBreaker) => number) => all.reduce((sum, one) => sum + figure(one), 0)
    return {
      ...worst,
      failures: total(({ failures }) => failures),
      requests: total(({ requests }) => requests),
      openedTimes: total(({ openedTimes }) => openedTimes),
      lastError: errors.toSorted((one, other) => other.at - one.at)[0] ?? null,
      processes: {
        closed: total(({ state }) => Number(state === 'closed')),
        open: total(({ state }) => Number(state === 'open')),
        half_open: total(({ state }) => Number(state === 'half_open')),
      },
    }
  })
}

/** The keys that cool down, each once, until the last process uses it again. */
export function coolingKeys(told: readonly Told[]): readonly PooledKey[] {
  const now = Date.now()
  const cooling = told.flatMap(({ keys }) => numbered(keys.filter(({ until }) => until > now)))
  const groups = Map.groupBy(cooling, ([name]) => name)
  return [...groups.values()].flatMap(
    (all) => all.toSorted(([, one], [, other]) => other.until - one.until)[0]?.[1] ?? [],
  )
}

/** The keys of one process with a name for each: several keys of a provider may end alike, and short ones have no hint. */
function numbered(keys: readonly PooledKey[]): readonly (readonly [name: string, key: PooledKey])[] {
  const counts = new Map<string, number>()
  return keys.map((key) => {
    const place = JSON.stringify([key.provider, key.hint])
    const number = counts.get(place) ?? 0
    counts.set(place, number + 1)
    return [`${place} ${number}`, key]
  })
}
