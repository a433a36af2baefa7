/** What the console reads of a decision of smart routing: the block `routing` of a row, or the answer of a preview. */
export const tiers = ['SIMPLE', 'MEDIUM', 'COMPLEX'] as const
export type Tier = (typeof tiers)[number]

/** Where one tier ends and the next begins. */
export const borders = [0.33, 0.67] as const

/** What one signal said; without `complexity` it said nothing, and `reasons` may say why. */
export interface Vote {
  readonly abstained?: true
  readonly complexity?: number
  readonly confidence?: number
  readonly weight?: number
  /** Part of the result, from 0 to 1. */
  readonly share?: number
  readonly reasons?: readonly string[]
}

/** A model and what it was compared by, or the gate that took it. */
export interface Candidate {
  readonly model: string
  readonly score?: number
  readonly level?: number
  /** Predicted, in USD; null: unknown. */
  readonly cost?: number | null
  readonly mean?: number
  readonly pulls?: number
  readonly excluded?: string
}

export interface Gate {
  readonly gate: string
  readonly left: number
  readonly removed?: readonly string[]
}

interface Estimate {
  readonly cost: number | null
  readonly baseline: string | null
  readonly baseline_cost: number | null
}

/** What the judge said; `verdict` is null if nothing that counts. */
export interface JudgeBlock {
  readonly model: string
  readonly shadow: boolean
  readonly verdict: Tier | null
  readonly distribution: Readonly<Record<Tier, number>> | null
  readonly applied: boolean
  readonly held: boolean
  readonly latency_ms: number | null
  readonly error: string | null
}

interface Common {
  readonly mode: string
  readonly tier: Tier | null
  readonly complexity: number | null
  /** What a better model gains, on the scale of complexity; absent in rows of before it was told. */
  readonly benefit?: number | null
  readonly confidence: number | null
  readonly chosen: string | null
  readonly estimate: Estimate | null
}

/** The block `routing` of a row. */
export interface RoutingBlock extends Common {
  readonly ensemble: { readonly complexity: number; readonly tier: Tier } | null
  readonly notes: readonly string[]
  readonly incumbent: string | null
  readonly candidates: readonly string[]
  readonly served: string | null
  readonly actual: { readonly cost: number | null; readonly savings: number | null } | null
  readonly judge: JudgeBlock | null
  readonly error: string | null
  readonly diagnostics?: {
    readonly signal_votes?: Readonly<Record<string, Vote>>
    readonly gates?: readonly Gate[]
    readonly scorecards?: readonly Candidate[]
  }
}

/** The answer of `POST /api/routing/preview`. */
export interface RoutingPreview extends Common {
  readonly reasoning: string
  readonly votes: Readonly<Record<string, Vote>> | null
  readonly gates: readonly Gate[]
  readonly judge: { readonly would_ask: boolean; readonly because: string }
  readonly candidates: readonly (Candidate & { readonly because?: string })[]
  readonly error: { readonly status: number; readonly code: string; readonly message: string } | null
}

/** What is drawn of a decision, from where it may be. */
export interface Drawn extends Common {
  /** What the signals said before floors, caps and the judge; null: the same. */
  readonly blended: number | null
  /** Null: the row has not kept them. */
  readonly votes: Readonly<Record<string, Vote>> | null
  /** In order; without scores where the row has not kept them. */
  readonly candidates: readonly Candidate[]
  /** Parts of the reasoning, such as `floor=vision:MEDIUM`. */
  readonly notes: readonly string[]
  readonly incumbent: string | null
  readonly served: string | null
  readonly savings: number | null
  readonly judge: JudgeBlock | null
  /** Of a preview alone: whether the judge would be asked, and a word that says why. */
  readonly wouldAsk: RoutingPreview['judge'] | null
  /** The code of the refusal, and its sentence where it is known. */
  readonly error: { readonly code: string; readonly message?: string } | null
}

/** The block of a row as it is drawn. */
export function fromBlock(block: RoutingBlock): Drawn {
  const { mode, tier, complexity, benefit = null, confidence, chosen, estimate } = block
  const { ensemble, diagnostics, actual, error } = block
  const {
    signal_votes: votes = null,
    gates = [],
    scorecards = block.candidates.map((model) => ({ model })),
  } = diagnostics ?? {}
  const known = new Set(scorecards.map(({ model }) => model))
  const isLimited = ensemble && complexity !== null && Math.abs(ensemble.complexity - complexity) >= 0.005
  return {
    mode,
    tier,
    complexity,
    benefit,
    confidence,
    chosen,
    estimate,
    votes,
    blended: isLimited ? ensemble.complexity : null,
    candidates: [...scorecards, ...removedBy(gates).filter(({ model }) => !known.has(model))],
    notes: block.notes,
    incumbent: block.incumbent,
    served: block.served,
    savings: actual?.savings ?? null,
    judge: block.judge,
    wouldAsk: null,
    error: error === null ? null : { code: error },
  }
}

/** The answer of a preview as it is drawn. */
export function fromPreview(preview: RoutingPreview): Drawn {
  const { mode, tier, complexity, benefit = null, confidence, chosen, estimate, votes, candidates, error } = preview
  return {
    mode,
    tier,
    complexity,
    benefit,
    confidence,
    chosen,
    estimate,
    votes,
    candidates,
    error,
    blended: null,
    notes: preview.reasoning.split(' | ').filter((part) => !/^(tier|chosen)=/.test(part) && part !== ''),
    incumbent: null,
    served: null,
    savings: null,
    judge: null,
    wouldAsk: preview.judge,
  }
}

/** The place of a number among the tiers, from 0. */
const placeOf = (value: number) => borders.filter((border) => value >= border).length

/** By how much benefit and complexity differ at least, if words say so: less than this is no other decision. */
const apart = 0.1

/**
 * What the benefit says beside the complexity: as much, more, or less. `hard` and `medium` are prompts of these tiers of
 * which a dearer model hardly gains anything, as of easy ones. Undefined: nobody knows.
 */
export function gainOf({ complexity, benefit }: Pick<Drawn, 'complexity' | 'benefit'>) {
  if (complexity === null || benefit === null || benefit === undefined) return undefined
  if (benefit - complexity >= apart) return 'more'
  if (complexity - benefit < apart) return 'usual'
  const [place, gained] = [placeOf(complexity), placeOf(benefit)]
  if (gained > 0 || place === 0) return 'less'
  return place === 2 ? 'hard' : 'medium'
}

const removedBy = (gates: readonly Gate[]): readonly Candidate[] =>
  gates.flatMap(({ gate, removed = [] }) => removed.map((model) => ({ model, excluded: gate })))

/** The middle of each tier: where a verdict without probabilities stands. */
const middles: Readonly<Record<Tier, number>> = { SIMPLE: 0.165, MEDIUM: 0.5, COMPLEX: 0.835 }

/** Where the judge stands on the scale; undefined: it has said nothing. */
export function complexityOf({ verdict, distribution }: JudgeBlock): number | undefined {
  if (!verdict) return undefined
  if (!distribution) return middles[verdict]
  return tiers.reduce((sum, tier) => sum + distribution[tier] * middles[tier], 0)
}
