import { tiers } from '../../engine/kit.ts'
import { added, askOf, explicitEvidence, implicitEvidence, noEvidence, shrunk } from './evidence.ts'
import type { Evidence, EvidenceRules, Observation } from './evidence.ts'
import { PlaceMap, placeOf } from './place.ts'
import type { Place } from './place.ts'
import type { RewardsTable } from './table.ts'

/**
 * Rows of each kind that are held per model, mode and tier: enough to know which API keys take part. One key has half of
 * them at most, so that nobody drives out what others said.
 */
const held = { all: 500, key: 250 }
/** Observations that the other tiers of a mode count as at most. */
const mostOfOthers = 5

/** Milliseconds by which rows of other processes may be late: clocks differ, and rows are written in bulk. */
export const lateness = 60_000
const hour = 3_600_000

/** What counts of the evidence. */
export interface WindowRules extends EvidenceRules {
  /** Whether evidence counts that nobody gave. */
  readonly implicit: boolean
}

/** What was observed of a model. */
export interface Observed extends Evidence {
  /** The same without what may not take the model below the gate of quality, if that makes a difference. */
  readonly gate?: Evidence
}

/**
 * The newest evidence about each model per mode and tier. It is the same in whatever order the rows came. Evidence that
 * nobody gave joins at the full hour: all processes know it then, and equal requests within the hour are decided alike.
 */
export class Windows {
  readonly #windows = new PlaceMap<Window>()

  /** Adds a row. Returns false if it is known already, or too old to count. */
  add(row: RewardsTable): boolean {
    const place = placeOf(row)
    let window = this.#windows.get(place)
    if (window === undefined) this.#windows.set(place, (window = new Window(place)))
    return window.add(row)
  }

  /**
   * What was observed of a model. Without a single observation in this tier, those in the other tiers of the mode
   * count half.
   */
  evidence(place: Place, rules: WindowRules, now = Date.now()): Observed {
    if (!this.#windows.hasMode(place)) return noEvidence
    const counting = { ...rules, until: Math.floor(now / hour) * hour - lateness }
    const own = this.#evidence(place, counting)
    if ((own.gate ?? own).rows > 0) return own
    const others = tiers.flatMap((tier) => (tier === place.tier ? [] : this.#evidence({ ...place, tier }, counting)))
    const isSame = own.rows === 0 && others.every(({ gate }) => gate === undefined)
    const gate = isSame ? {} : { gate: half(others.map((one) => one.gate ?? one)) }
    return { ...(own.rows > 0 ? own : half(others)), ...gate }
  }

  /** When something was last learned there, in milliseconds since 1970; 0: never. */
  updatedAt(place: Place): number {
    return this.#windows.get(place)?.updatedAt ?? 0
  }

  /** Where something was observed. */
  places(): readonly Place[] {
    return Array.from(this.#windows.values(), ({ place }) => place)
  }

  /** The rows of a source there since a time. */
  since(place: Place, source: string, time: number): readonly Observation[] {
    return this.#windows.get(place)?.since(source, time) ?? []
  }

  /** Forgets what was learned until a time: of one model, or of all (undefined). */
  forget(model: string | undefined, until: number): void {
    for (const window of this.#windows.values()) {
      if (model !== undefined && window.place.model !== model) continue
      if (window.forget(until)) this.#windows.delete(window.place)
    }
  }

  #evidence(place: Place, counting: Counting): Observed {
    return this.#windows.get(place)?.evidence(counting) ?? noEvidence
  }
}

/** What counts of the rows of a window. */
interface Counting extends WindowRules {
  /** From when on evidence does not count that nobody gave, in milliseconds since 1970. */
  readonly until: number
}

/** What other tiers count as. */
function half(others: readonly Evidence[]): Evidence {
  const { successes, failures } = others.reduce(added, noEvidence)
  return shrunk({ successes: successes / 2, failures: failures / 2, rows: 0 }, mostOfOthers)
}

class Window {
  readonly place: Place
  #explicit: Observation[] = []
  #implicit: Observation[] = []
  #known: { readonly counting: Counting; readonly observed: Observed } | undefined

  constructor(place: Place) {
    this.place = place
  }

  get updatedAt(): number {
    return Math.max(this.#explicit.at(-1)?.at ?? 0, this.#implicit.at(-1)?.at ?? 0)
  }

  add(row: Observation): boolean {
    const isAdded = insert(row.source.startsWith('explicit') ? this.#explicit : this.#implicit, row)
    if (isAdded) this.#known = undefined
    return isAdded
  }

  evidence(counting: Counting): Observed {
    if (this.#known && isEqual(this.#known.counting, counting)) return this.#known.observed
    const observed = this.#observed(counting)
    this.#known = { counting, observed }
    return observed
  }

  #observed({ until, ...rules }: Counting): Observed {
    const explicit = explicitEvidence(this.#explicit, rules)
    if (!rules.implicit) return explicit
    const told = this.#implicit.filter(({ at }) => at < until)
    const { evidence, isBroad } = implicitEvidence(told, rules)
    const isSame = isBroad || evidence.rows === 0
    return { ...added(explicit, evidence), ...(isSame ? {} : { gate: explicit }) }
  }

  /** The rows of a source since a time. */
  since(source: string, time: number): readonly Observation[] {
    return [...this.#explicit, ...this.#implicit].filter((row) => row.source === source && row.at >= time)
  }

  /** Returns whether nothing is left. */
  forget(until: number): boolean {
    this.#explicit = this.#explicit.filter(({ at }) => at > until)
    this.#implicit = this.#implicit.filter(({ at }) => at > until)
    this.#known = undefined
    return this.#explicit.length + this.#implicit.length === 0
  }
}

/** Puts a row in its place: by time, then by decision and source. Nearly always it is the last one. */
function insert(rows: Observation[], row: Observation): boolean {
  let index = rows.length
  for (; index > 0; index--) {
    const order = compare(rows[index - 1] as Observation, row)
    if (order === 0) return false
    if (order < 0) break
  }
  if (index === 0 && rows.length >= held.all) return false
  rows.splice(index, 0, row)
  const again = repeatedBy(rows, index)
  if (again >= 0) {
    rows.splice(again, 1)
    return again !== index
  }
  const ofKey = rows.length > held.key ? rows.filter(({ key_id: key }) => key === row.key_id).length : 0
  const gone = ofKey > held.key ? rows.findIndex(({ key_id: key }) => key === row.key_id) : rows.length - held.all - 1
  if (gone >= 0) rows.splice(gone, 1)
  return gone !== index
}

/**
 * The row that says nothing any more since there is the one at `at`, as its key repeats an ask: of each reward only the
 * newest one counts, and until the next full hour the newest one of the hours before; -1: none.
 */
function repeatedBy(rows: readonly Observation[], at: number): number {
  const inserted = rows[at] as Observation
  if (inserted.source.startsWith('explicit')) return -1
  const same = rows.flatMap((row, index) => (isRepetition(row, inserted) ? [{ index, hour: hourOf(row) }] : []))
  const inHour = same.findIndex(({ hour: one }, index) => same[index + 1]?.hour === one)
  return (same[inHour] ?? (same.length > 2 ? same[0] : undefined))?.index ?? -1
}

/** Whether two rows say the same of the same ask. */
function isRepetition(one: Observation, other: Observation): boolean {
  return (
    one.source === other.source &&
    one.key_id === other.key_id &&
    one.reward === other.reward &&
    askOf(one) === askOf(other)
  )
}

/** The full hour from which on a row counts that nobody gave. */
function hourOf({ at }: Observation): number {
  return Math.floor((at + lateness) / hour)
}

function compare(one: Observation, other: Observation): number {
  if (one.at !== other.at) return one.at - other.at
  const [left, right] = [`${one.decision} ${one.source}`, `${other.decision} ${other.source}`]
  return left < right ? -1 : Number(left > right)
}

function isEqual(one: Counting, other: Counting): boolean {
  return (
    one.window === other.window &&
    one.strength === other.strength &&
    one.implicit === other.implicit &&
    one.until === other.until
  )
}
