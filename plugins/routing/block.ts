import type { JsonObject, Mode, Slots } from '../../engine/index.ts'
import type { Choice, Considered } from './decide.ts'
import { needOf, qualityShare } from './score.ts'
import type { RoutingSettings } from './settings.ts'
import type { GateCount, Shortlist } from './shortlisted.ts'
import type { Limited } from './tier.ts'

/** Version of the block. */
const version = 1
/** Most bytes of a block, and most scorecards. */
const most = { bytes: 16_384, scorecards: 20 }
/** Most members of the lists of models; fewer if the block is too large. */
const listed = [50, 20, 10, 5, 2]

/** What the row of a request for a virtual model tells, whether or not a gate refused it. */
interface Routed {
  readonly mode: Mode
  readonly difficulty: Pick<Limited, 'complexity' | 'tier'>
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
  return bounded((count) => ({
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
    ...(gates.length > 0 ? { diagnostics: { gates: gatesOf(gates, count) } } : {}),
  }))
}

/** The block of a decision, without what is known only when it was served. */
export function decidedBlock(decided: Decided): JsonObject {
  const { choice, shortlist, estimate } = decided
  const { order, propensity } = choice
  return bounded((count) => ({
    ...headOf(decided),
    incumbent: shortlist.incumbent?.model ?? null,
    candidates: order.slice(0, count).map(({ model }) => model),
    chosen: order[0].model,
    served: null,
    explored: choice.explored,
    estimate: { ...estimate },
    actual: null,
    propensity: { ...propensity, arms: propensity.arms.slice(0, count).map((arm) => ({ ...arm })) },
    judge: null,
    features: featuresOf(decided),
    error: null,
    ...(decided.isDiagnosed ? { diagnostics: diagnosticsOf(decided, count) } : {}),
  }))
}

function headOf({ mode, difficulty, ensemble, notes, conversation }: Routed): JsonObject {
  const { complexity, tier } = difficulty
  return {
    v: version,
    mode,
    tier,
    complexity: rounded(complexity),
    confidence: rounded(ensemble?.confidence ?? 0),
    confidence_raw: rounded(ensemble?.confidenceRaw ?? 0),
    map: ensemble?.map ?? null,
    weights_version: ensemble?.weightsVersion ?? null,
    ensemble: ensemble ? { complexity: rounded(ensemble.complexity), tier: ensemble.tier } : null,
    notes: [...notes],
    conversation: conversation ?? null,
  }
}

function featuresOf({ ensemble }: Routed): JsonObject | null {
  return ensemble ? { text: ensemble.features && [...ensemble.features], facts: ensemble.facts } : null
}

function diagnosticsOf(decided: Decided, count: number): JsonObject {
  const { mode, difficulty, ensemble, notes, settings, shortlist, choice } = decided
  const { complexity } = difficulty
  return {
    signal_votes: votesOf(ensemble),
    weights: {
      quality: rounded(qualityShare(complexity, settings.quality_weights[mode])),
      gate: settings.quality_gate[mode],
      need: rounded(needOf(complexity, mode)),
    },
    guardrails: notes.filter((note) => /^(floor|cap)=/.test(note)),
    gates: gatesOf(shortlist.gates, count),
    scorecards: scorecardsOf(choice, shortlist.gates).slice(0, Math.min(count, most.scorecards)),
  }
}

function votesOf(ensemble: Routed['ensemble']): JsonObject {
  return Object.fromEntries(
    Object.entries(ensemble?.votes ?? {}).map(([signal, vote]) => [signal, { ...vote, reasons: [...vote.reasons] }]),
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

/** The block with lists as long as fit. */
function bounded(make: (count: number) => JsonObject): JsonObject {
  let block: JsonObject = {}
  for (const count of listed) {
    block = make(count)
    if (Buffer.byteLength(JSON.stringify(block)) <= most.bytes) break
  }
  return block
}
