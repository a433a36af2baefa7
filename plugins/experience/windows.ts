import { tiers } from '../../engine/kit.ts'
import { added, explicitEvidence, implicitEvidence, noEvidence, shrunk } from './evidence.ts'
import type { Evidence, EvidenceRules, Observation } from './evidence.ts'
import { keyOf, placeOf } from './place.ts'
import type { Place } from './place.ts'
import type { RewardsTable } from './table.ts'

/** Rows of each kind that are held per model, mode and tier: enough to know which API keys take part. */
const held = 500
/** Observations that the other tiers of a mode count as at most. */
const mostOfOthers = 5

/** What counts of the evidence. */
export interface WindowRules extends EvidenceRules {
  /** Whether evidence counts that nobody gave. */
  readonly implicit: boolean
}

/** The newest evidence about each model per mode and tier. It is the same in whatever order the rows came. */
export class Windows {
  readonly #windows = new Map<string, Window>()

  /** Adds a row. Returns false if it is known already, or too old to count. */
  add(row: RewardsTable): boolean {
    const place = placeOf(row)
    const key = keyOf(place)
    let window = this.#windows.get(key)
    if (window === undefined) this.#windows.set(key, (window = new Window(place)))
    return window.add(row)
  }

  /**
   * What was observed of a model. Without a single observation in this tier, those in the other tiers of the mode
   * count half.
   */
  evidence(place: Place, rules: WindowRules): Evidence {
    const own = this.#evidence(place, rules)
    if (own.rows > 0) return own
    const others = tiers.map((tier) => (tier === place.tier ? noEvidence : this.#evidence({ ...place, tier }, rules)))
    const { successes, failures } = others.reduce(added, noEvidence)
    return shrunk({ successes: successes / 2, failures: failures / 2, rows: 0 }, mostOfOthers)
  }

  /** When something was last learned there, in milliseconds since 1970; 0: never. */
  updatedAt(place: Place): number {
    return this.#windows.get(keyOf(place))?.updatedAt ?? 0
  }

  /** Where something was observed. */
  places(): readonly Place[] {
    return [...this.#windows.values()].map(({ place }) => place)
  }

  /** Number of rows of a source there since a time. */
  countSince(place: Place, source: string, since: number): number {
    return this.#windows.get(keyOf(place))?.countSince(source, since) ?? 0
  }

  /** Forgets what was learned until a time: of one model, or of all (undefined). */
  forget(model: string | undefined, until: number): void {
    for (const [key, window] of this.#windows) {
      if (model !== undefined && window.place.model !== model) continue
      if (window.forget(until)) this.#windows.delete(key)
    }
  }

  #evidence(place: Place, rules: WindowRules): Evidence {
    return this.#windows.get(keyOf(place))?.evidence(rules) ?? noEvidence
  }
}

class Window {
  readonly place: Place
  #explicit: Observation[] = []
  #implicit: Observation[] = []
  #known: { readonly rules: WindowRules; readonly evidence: Evidence } | undefined

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

  evidence(rules: WindowRules): Evidence {
    if (this.#known && isEqual(this.#known.rules, rules)) return this.#known.evidence
    const { implicit } = rules
    const explicit = explicitEvidence(this.#explicit, rules)
    const evidence = implicit ? added(explicit, implicitEvidence(this.#implicit, rules)) : explicit
    this.#known = { rules, evidence }
    return evidence
  }

  countSince(source: string, since: number): number {
    return [...this.#explicit, ...this.#implicit].filter((row) => row.source === source && row.at >= since).length
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
  if (index === 0 && rows.length >= held) return false
  rows.splice(index, 0, row)
  if (rows.length > held) rows.shift()
  return true
}

function compare(one: Observation, other: Observation): number {
  if (one.at !== other.at) return one.at - other.at
  const [left, right] = [`${one.decision} ${one.source}`, `${other.decision} ${other.source}`]
  return left < right ? -1 : Number(left > right)
}

function isEqual(one: WindowRules, other: WindowRules): boolean {
  return one.window === other.window && one.strength === other.strength && one.implicit === other.implicit
}
