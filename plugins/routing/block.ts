import type { Json, JsonObject, Mode, Slots } from '../../engine/index.ts'
import type { Choice, Considered } from './choose.ts'
import { needOf, qualityShare } from './score.ts'
import type { RoutingSettings } from './settings.ts'
import type { GateCount, Shortlist } from './shortlisted.ts'
import type { Limited } from './tier.ts'

/** Version of the block. */
const version = 1
/** Most bytes of a block before it was served: 1 KB is for the judge, real costs and what served. */
const mostBytes = 15_360
/** Most scorecards, most notes, and most characters of a note. */
const most = { scorecards: 20, notes: 20, note: 200 }

/** How much of a decision a block has room for: lists of models, arms that have drawn, diagnostics. */
interface Room {
  readonly listed: number
  readonly arms: number
  readonly isDiagnosed: boolean
}

/** From the largest block to the smallest. Arms are cut last: without all of them, a decision cannot be replayed. */
const rooms: readonly Room[] = [
  ...[50, 20, 10, 5, 2].map((listed) => ({ listed, arms: Infinity, isDiagnosed: true })),
  ...[50, 20, 10, 5].map((arms) => ({ listed: 2, arms, isDiagnosed: true })),
  { listed: 2, arms: 2, isDiagnosed: false },
]

/** What the row of a request for a virtual model tells, whether or not a gate refused it. */
interface Routed {
  readonly mode: Mode
  readonly difficulty: Pick<Limited, 'complexity' | 'benefit' | 'tier'>
  readonly ensemble: Slots['ensemble'] | undefined
  /** Without those of the ensemble. */
  readonly notes: readonly string[]
  readonly conversation: string | undefined
}

/** A decision with all that it was made of. */
interface Decided extends Routed {
  readonly shortlist: Shortlist
  readonly choice: Choice
  readonly estimate: Estimate
  readonly settings: RoutingSettings
  /** Whether the block tells everything. */
  readonly isDiagnosed: boolean
}

/** What a request was predicted to cost, in USD; null: unknown. */
export interface Estimate {
  readonly input: number
  readonly output: number
  readonly cost: number | null
  readonly baseline: string | null
  readonly baseline_cost: number | null
}

/** The block of a request that was refused before a model was chosen. */
export function refusedBlock(routed: Routed, gates: readonly GateCount[], error: string | null): JsonObject {
  return bounded(({ listed }) => ({
    ...headOf(routed),
    incumbent: null,
    candidates: [],
    chosen: null,
    served: null,
    explored: false,
    estimate: null,
    actual: null,
    propensity: null,
    judge: null,
    features: featuresOf(routed),
    error,
    ...(gates.length > 0 ? { diagnostics: { gates: gatesOf(gates, listed) } } : {}),
  }))
}

/** The block of a decision, without what is known only when it was served. */
export function decidedBlock(decided: Decided): JsonObject {
  const { choice, shortlist, estimate } = decided
  const { order } = choice
  return bounded(({ listed, arms, isDiagnosed }) => ({
    ...headOf(decided),
    incumbent: shortlist.incumbent?.model ?? null,
    candidates: order.slice(0, listed).map(({ model }) => model),
    chosen: order[0].model,
    served: null,
    explored: choice.explored,
    estimate: estimate as unknown as JsonObject,
    actual: null,
    propensity: propensityOf(choice, arms),
    judge: null,
    features: featuresOf(decided),
    error: null,
    ...(decided.isDiagnosed && isDiagnosed ? { diagnostics: diagnosticsOf(decided, listed) } : {}),
  }))
}

/** How the decision was drawn. The arms that may have been chosen are kept first, and then those that come next. */
function propensityOf({ order, propensity }: Choice, count: number): JsonObject {
  if (propensity.arms.length <= count) return propensity as unknown as JsonObject
  const { terms, arms, ...drawn } = propensity
  const first = [order[0].model, arms.find((arm) => arm.trial)?.model, terms.incumbent?.model]
  const ranking = new Set([...first, ...order.map(({ model }) => model)].filter((one) => one !== undefined))
  const kept = new Set([...ranking].slice(0, count))
  const places = arms.flatMap(({ model }, index) => (kept.has(model) ? [index] : []))
  const { share, rest, incumbent, broken } = terms
  const at = <T>(list: readonly T[]) => places.map((index) => list[index] as T)
  return {
    ...drawn,
    arms: at(arms).map((arm) => ({ ...arm })),
    terms: {
      share,
      rest: at(rest),
      ...(incumbent ? { incumbent: { ...incumbent } } : {}),
      ...(broken ? { broken: broken.filter((model) => kept.has(model)) } : {}),
      left_out: arms.length - places.length,
    },
  }
}

function headOf({ mode, difficulty, ensemble, notes, conversation }: Routed): JsonObject {
  const { complexity, benefit, tier } = difficulty
  return {
    v: version,
    mode,
    tier,
    complexity: rounded(complexity),
    benefit: rounded(benefit),
    confidence: rounded(ensemble?.confidence ?? 0),
    confidence_raw: rounded(ensemble?.confidenceRaw ?? 0),
    map: ensemble?.map ?? null,
    weights_version: ensemble?.weightsVersion ?? null,
    ensemble: ensemble ? seenBy(ensemble, difficulty) : null,
    notes: areFew(notes) ? notes : notes.slice(0, most.notes).map((note) => note.slice(0, most.note)),
    conversation: conversation ?? null,
  }
}

function areFew(notes: readonly string[]): boolean {
  return notes.length <= most.notes && notes.every((note) => note.length <= most.note)
}

/** What the signals saw, before the judge, floors and caps. Their benefit is another one only if the tier is. */
function seenBy(ensemble: Slots['ensemble'], now: Routed['difficulty']): JsonObject {
  const { complexity, benefit, tier } = ensemble
  const isOther = benefit !== undefined && tier !== now.tier
  return { complexity: rounded(complexity), ...(isOther ? { benefit: rounded(benefit) } : {}), tier }
}

function featuresOf({ ensemble }: Routed): JsonObject | null {
  return ensemble ? { text: ensemble.features, facts: ensemble.facts } : null
}

function diagnosticsOf(decided: Decided, count: number): JsonObject {
  const { mode, difficulty, ensemble, notes, settings, shortlist, choice } = decided
  const { benefit } = difficulty
  return {
    signal_votes: votesOf(ensemble),
    weights: {
      quality: rounded(qualityShare(benefit, settings.quality_weights[mode])),
      gate: settings.quality_gate[mode],
      need: rounded(needOf(benefit, mode)),
    },
    guardrails: notes.filter((note) => /^(floor|cap)=/.test(note)),
    gates: gatesOf(shortlist.gates, count),
    scorecards: scorecardsOf(choice, shortlist.gates).slice(0, Math.min(count, most.scorecards)),
  }
}

function votesOf(ensemble: Routed['ensemble']): JsonObject {
  return Object.fromEntries(
    Object.entries(ensemble?.votes ?? {}).map(([signal, vote]) => {
      const { reasons, ...told } = vote
      // A signal that had nothing to say has no reasons either.
      return [signal, 'abstained' in vote && reasons.length === 0 ? told : { ...told, reasons: [...reasons] }]
    }),
  )
}

function gatesOf(gates: readonly GateCount[], count: number): JsonObject[] {
  return gates.map(({ gate, left, removed }) => ({
    gate,
    left,
    ...(removed ? { removed: removed.slice(0, count) } : {}),
  }))
}

/** What each model was compared by, in order, and then the gates that removed the others. */
function scorecardsOf({ order }: Choice, gates: readonly GateCount[]): readonly JsonObject[] {
  const excluded = gates.flatMap(({ gate, removed = [] }) => removed.map((model) => ({ model, excluded: gate })))
  return [...order.map(scorecardOf), ...excluded]
}

function scorecardOf(considered: Considered): JsonObject {
  const { model, level, c, mean, draw, observations, pulls, reliability, latency, continuity, score } = considered
  const { cost } = considered.forecast
  return {
    model,
    level,
    cost,
    c: rounded(c),
    mean: rounded(mean),
    draw: rounded(draw),
    observations,
    pulls,
    reliability: rounded(reliability),
    latency: rounded(latency),
    continuity,
    score: rounded(score),
  }
}

function rounded(value: number): number {
  return Number(value.toFixed(6))
}

/** The block with as much as fits. */
function bounded(make: (room: Room) => JsonObject): JsonObject {
  let block: JsonObject = {}
  for (const room of rooms) {
    block = make(room)
    if (mostBytesOf(block) <= mostBytes || Buffer.byteLength(JSON.stringify(block)) <= mostBytes) break
  }
  return block
}

/** Bytes that a value takes at most as JSON. Nearly always they are few, and the block need not be printed to tell. */
function mostBytesOf(value: Json | undefined): number {
  if (typeof value === 'string') return 6 * value.length + 2
  if (typeof value !== 'object' || value === null) return longestNumber
  let bytes = 2
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const one = value[at] as Json
      // Passing a number to a function takes memory for it.
      bytes += 1 + (typeof one === 'number' ? longestNumber : mostBytesOf(one))
    }
    return bytes
  }
  const members = value as JsonObject
  for (const name in members) {
    const member = members[name]
    bytes += 6 * name.length + 4 + (typeof member === 'number' ? longestNumber : mostBytesOf(member))
  }
  return bytes
}

/** Characters of the longest number, such as -1.2345678901234567e-100. */
const longestNumber = 24
