/** A piece of evidence about one model in one mode and tier. */
export interface Observation {
  /** Id of the decision. */
  readonly decision: string
  /** `explicit…` or `implicit…`. */
  readonly source: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** From 0 to 1. */
  readonly reward: number
  /** Above 0. */
  readonly weight: number
  readonly key_id: string | null
  /** Id of the conversation and number of the user's turn in it; null: unknown. */
  readonly conversation: string | null
  readonly turn: number | null
  /** Hash of what was asked; empty: nothing was, in words; null: unknown. */
  readonly ask: string | null
}

/** Evidence, as numbers of observations. */
export interface Evidence {
  readonly successes: number
  readonly failures: number
  /** Rows that it was counted from. */
  readonly rows: number
}

/** What evidence is counted by. */
export interface EvidenceRules {
  /** Number of rows that count. */
  readonly window: number
  /** What the prior counts as, in observations. */
  readonly strength: number
}

export const noEvidence: Evidence = { successes: 0, failures: 0, rows: 0 }

/** The most observations that evidence counts as that nobody gave. */
const mostImplicit = 20
/** From how many API keys and conversations such evidence may take a model below the gate of quality. */
const fewest = { keys: 3, conversations: 20 }
/** The share of what is known that one API key may have among many. */
const leastShare = 0.05

/**
 * Counts what people said about a model: of the newest rows, as many of each API key as its share of the window. Then no
 * key has more than its share of what is known, the prior included: 1 of n keys, but never less than 5 %. So a key alone
 * teaches its own gateway, and one among twenty moves a mean by less than 5 %, however much it says.
 * @param rows oldest first
 */
export function explicitEvidence(rows: readonly Observation[], rules: EvidenceRules): Evidence {
  return sharedOut(countedOf(rows, rules, 1), rules)
}

/** Evidence that nobody gave. */
export interface ImplicitEvidence {
  readonly evidence: Evidence
  /** Whether it comes from enough API keys and conversations to take a model below the gate of quality. */
  readonly isBroad: boolean
}

/**
 * Counts what follows from how conversations went on: each turn once, what a key repeats once, and of each API key as
 * many rows as explicit evidence would count, as if at least three keys took part. So nobody teaches a gateway alone
 * without saying so. A key of which one ask is known teaches nothing: it may repeat that ask for ever.
 * @param rows oldest first
 */
export function implicitEvidence(rows: readonly Observation[], rules: EvidenceRules): ImplicitEvidence {
  const counted = countedOf(ofSeveralAsks(oncePerAsk(oncePerTurn(rows))), rules, fewest.keys)
  const conversations = new Set(counted.rows.flatMap(({ conversation }) => conversation ?? []))
  return {
    evidence: shrunk(sharedOut(counted, rules), mostImplicit),
    isBroad: keysOf(counted.rows).size >= fewest.keys && conversations.size >= fewest.conversations,
  }
}

function oncePerTurn(rows: readonly Observation[]): readonly Observation[] {
  const seen = new Set<string>()
  return rows.filter(({ source, conversation, turn }) => {
    if (conversation === null) return true
    const key = `${source} ${conversation} ${turn}`
    return !seen.has(key) && seen.add(key)
  })
}

/** The newest row of each ask of a key, for each reward: the success of a retry does not take back the failure before. */
function oncePerAsk(rows: readonly Observation[]): readonly Observation[] {
  const newest = new Map(rows.map((row) => [`${row.source} ${row.key_id} ${row.reward} ${askOf(row)}`, row]))
  const kept = new Set(newest.values())
  return rows.filter((row) => kept.has(row))
}

/** The rows of keys that have asked several things. */
function ofSeveralAsks(rows: readonly Observation[]): readonly Observation[] {
  const asks = new Map(
    [...Map.groupBy(rows, ({ key_id: key }) => key)].map(([key, own]) => [key, new Set(own.map(askOf))]),
  )
  return rows.filter(({ key_id: key }) => (asks.get(key)?.size ?? 0) > 1)
}

/** What was asked. Where that is unknown, a conversation counts as one ask. */
export function askOf({ ask, conversation, decision }: Observation): string {
  return ask ?? conversation ?? decision
}

/** Rows that count, and the share of what is known that each API key may have. */
interface Counted {
  readonly rows: readonly Observation[]
  readonly share: number
}

/** @param keys API keys that take part at least, as far as shares are concerned */
function countedOf(rows: readonly Observation[], { window }: EvidenceRules, keys: number): Counted {
  const share = Math.max(leastShare, 1 / Math.max(keys, keysOf(rows).size))
  return { rows: newestOfEach(rows, window, Math.ceil(share * window)), share }
}

function sharedOut({ rows, share }: Counted, { strength }: EvidenceRules): Evidence {
  const keys = [...Map.groupBy(rows, ({ key_id: key }) => key).values()].map(sumOf)
  const most = mostOfKey(keys.map(weightOf), share, strength)
  return keys.map((key) => shrunk(key, most)).reduce(added, noEvidence)
}

function keysOf(rows: readonly Observation[]): ReadonlySet<string | null> {
  return new Set(rows.map(({ key_id: key }) => key))
}

export function added(one: Evidence, other: Evidence): Evidence {
  return {
    successes: one.successes + other.successes,
    failures: one.failures + other.failures,
    rows: one.rows + other.rows,
  }
}

/** The same evidence, counted as at most so many observations. */
export function shrunk(evidence: Evidence, most: number): Evidence {
  const weight = weightOf(evidence)
  const factor = weight > most ? most / weight : 1
  return { ...evidence, successes: evidence.successes * factor, failures: evidence.failures * factor }
}

function newestOfEach(rows: readonly Observation[], most: number, mostOfEach: number): readonly Observation[] {
  const taken: Observation[] = []
  const counts = new Map<string | null, number>()
  for (let index = rows.length - 1; index >= 0 && taken.length < most; index--) {
    const row = rows[index]
    const count = row === undefined ? mostOfEach : (counts.get(row.key_id) ?? 0)
    if (row === undefined || count >= mostOfEach) continue
    counts.set(row.key_id, count + 1)
    taken.push(row)
  }
  return taken
}

/**
 * The most that one key may count as: its share of the prior and of all keys, where those above it count as it does.
 */
function mostOfKey(weights: readonly number[], share: number, strength: number): number {
  const sorted = weights.toSorted((one, other) => other - one)
  let rest = sorted.reduce((sum, weight) => sum + weight, 0)
  for (const [above, weight] of sorted.entries()) {
    const most = (share * (strength + rest)) / (1 - share * above)
    if (weight <= most) return most
    rest -= weight
  }
  return (share * strength) / (1 - share * sorted.length)
}

function sumOf(rows: readonly Observation[]): Evidence {
  let successes = 0
  let failures = 0
  for (const { reward, weight } of rows) {
    successes += reward * weight
    failures += (1 - reward) * weight
  }
  return { successes, failures, rows: rows.length }
}

function weightOf({ successes, failures }: Evidence): number {
  return successes + failures
}
