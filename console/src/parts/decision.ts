import type { Answers } from '../api/answers.ts'

/** The tiers of smart routing, from the easiest. */
export const tiers = ['SIMPLE', 'MEDIUM', 'COMPLEX'] as const
export type Tier = (typeof tiers)[number]

/** Where one tier ends and the next begins. */
export const borders = [0.33, 0.67] as const

/** The block `routing` of a row; those of earlier versions lack some of it. */
export type RoutingBlock = NonNullable<Answers['get-request']['routing']>

/** What is read of the answer of `POST /api/routing/preview`. */
export type RoutingPreview = Omit<Answers['preview-routing'], 'benefit' | 'confidence_raw' | 'facts' | 'floors'> &
  Partial<Pick<Answers['preview-routing'], 'benefit'>>

/** What the judge said; `verdict` is null if nothing that counts. */
export type JudgeBlock = NonNullable<RoutingBlock['judge']>

type Diagnostics = NonNullable<RoutingBlock['diagnostics']>

/** What one signal said; without `complexity` it said nothing, and `reasons` may say why. */
export type Vote = NonNullable<Diagnostics['signal_votes']>[string]

/** A model and what it was compared by, or the gate that took it. */
export type Candidate = NonNullable<Diagnostics['scorecards']>[number]

type Gate = NonNullable<Diagnostics['gates']>[number]

/** What is drawn of a decision, from where it may be. */
export interface Drawn {
  readonly mode: string
  readonly tier: Tier | null
  readonly complexity: number | null
  /** What a better model gains, on the scale of complexity; null in rows of before it was told. */
  readonly benefit: number | null
  readonly confidence: number | null
  readonly chosen: string | null
  /** Money in USD; null: unknown. */
  readonly estimate: Pick<NonNullable<RoutingBlock['estimate']>, 'cost' | 'baseline' | 'baseline_cost'> | null
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
  const { mode = '', tier = null, complexity = null, benefit = null, confidence = null, chosen = null } = block
  const { estimate = null, ensemble, actual, error = null, candidates = [], diagnostics = {} } = block
  const { signal_votes: votes = null, gates = [], scorecards = candidates.map((model) => ({ model })) } = diagnostics
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
    notes: block.notes ?? [],
    incumbent: block.incumbent ?? null,
    served: block.served ?? null,
    savings: actual?.savings ?? null,
    judge: block.judge ?? null,
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
