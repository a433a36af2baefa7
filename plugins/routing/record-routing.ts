import { hash } from 'node:crypto'
import { defineStage, noConfig } from '../../engine/index.ts'
import type { Catalog, Json, JsonObject, Scope, Services, Tier } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import { refusedBlock } from './block.ts'
import { lessonOf } from './lesson.ts'
import type { Recorded } from './lesson.ts'
import { partsOf, reasoningOf } from './reasoning.ts'
import { SchemaEvidence } from './schema-evidence.ts'
import type { GateCount } from './shortlisted.ts'
import type { Decision } from './select.ts'

type Prices = Pick<Services['prices'], 'costOf'>

/**
 * Notes in the row of a request for a virtual model how it was routed, what served it and what that saved, and tells
 * `experience` what was seen. The row waits for a judge in shadow. Other requests are left alone.
 */
export default defineStage({
  name: 'record-routing',
  summary: 'Note how a request for a virtual model was routed.',
  config: noConfig,
  needs: ['outcome'],
  reads: [
    'target',
    'ensemble',
    'verdict',
    'decision',
    'model',
    'bill',
    'measurement',
    'principal',
    'preview',
    'request',
    'upstream',
    'answer',
  ],
  provides: [],
  pays: ['record-routing'],
  // Longer than a judge may take.
  timeout: '90s',
  uses: ['prices', 'experience', 'smart_routing'],
  build: (_config, host, { prices, experience, smart_routing: routing }) => {
    const { catalog } = host
    const schemas = new SchemaEvidence(host, experience)
    const learn = (decision: Decision, slots: Recorded, scope: Scope) => {
      const { seen, decided, kept } = lessonOf(decision, slots, scope)
      experience.seen(seen)
      if (decided) schemas.look(decided, slots)
      if (kept) experience.keep(kept.conversation, kept.incumbent)
    }
    return (slots, scope) => {
      const { target, decision, verdict, preview } = slots
      if (preview || (target?.virtual !== true && decision === undefined)) return {}
      if (decision) learn(decision, slots, scope)
      const note = () => {
        if (decision) noteDecision(decision, slots, scope, { catalog, prices, routing })
        else noteRefusal(slots, scope)
        return {}
      }
      return verdict?.done ? verdict.done.then(note) : note()
    }
  },
})

/** Notes a request that was refused before a model was chosen. */
function noteRefusal({ target, ensemble, outcome }: Recorded, scope: Scope): void {
  // Requests that are only counted, and those of which nothing is known yet, are not routed.
  if (target?.mode === undefined || ensemble === undefined) return
  const { tier, complexity, benefit, notes, gates, conversation } = refusalIn(scope.notes.get('routing')) ?? {
    ...ensemble,
    benefit: ensemble.benefit ?? ensemble.complexity,
    gates: [],
    conversation: undefined,
  }
  const own = notes.filter((note) => !ensemble.notes.includes(note))
  const routed = { mode: target.mode, difficulty: { complexity, benefit, tier }, ensemble, notes: own, conversation }
  const block = refusedBlock(routed, gates, outcome.error?.code ?? null)
  const reasoning = reasoningOf(partsOf({ tier, notes }))
  noteFlat(block, { reasoning, cost: null, savings: null, served: null }, scope)
}

/** What `shortlist` has noted of a refusal. */
interface Refusal {
  readonly tier: Tier
  readonly complexity: number
  readonly benefit: number
  readonly notes: readonly string[]
  readonly gates: readonly GateCount[]
  readonly conversation: string | undefined
}

function refusalIn(note: Json | undefined): Refusal | undefined {
  return isObject(note)
    ? ({ ...note, conversation: note['conversation'] ?? undefined } as unknown as Refusal)
    : undefined
}

interface Known {
  readonly catalog: Catalog
  readonly prices: Prices
  readonly routing: Pick<Services['smart_routing'], 'settings'>
}

function noteDecision(decision: Decision, slots: Recorded, scope: Scope, known: Known): void {
  const { block, reasoning } = decision
  const { verdict, model, outcome } = slots
  const estimate = block['estimate'] as { readonly cost: number | null; readonly baseline_cost: number | null }
  const savings =
    estimate.cost === null || estimate.baseline_cost === null ? null : estimate.baseline_cost - estimate.cost
  const served = model?.model.name ?? lastTried(scope)
  const complete = {
    ...block,
    served: model?.model.name ?? null,
    actual: actualOf(decision, slots, known),
    judge: verdict?.block() ?? null,
    error: served === null ? (outcome.error?.code ?? null) : null,
  }
  noteFlat(complete, { reasoning, cost: estimate.cost, savings, served }, scope)
  // So that an export can tell equal texts that are not kept.
  if (!known.routing.settings.keep_prompts) scope.note('routing_prompt_hash', hash('sha256', decision.asked.ask))
}

interface Flat {
  readonly reasoning: string
  readonly cost: number | null
  readonly savings: number | null
  /** What served, otherwise what was tried last. */
  readonly served: string | null
}

function noteFlat(block: JsonObject, { reasoning, cost, savings, served }: Flat, scope: Scope): void {
  const { complexity = null, confidence = null, tier = null } = block
  scope.note('routing_complexity', complexity)
  scope.note('routing_confidence', confidence)
  scope.note('routing_reasoning', reasoning)
  scope.note('routing_cost_estimate', cost)
  scope.note('routing_savings', savings === null ? null : exact(savings))
  scope.note('routing_tier', tier)
  scope.note('resolved_model', served)
  scope.note('routing', block)
  const actual = isObject(block['actual']) ? block['actual']['savings'] : undefined
  if (scope.told && typeof tier === 'string') scope.told.tier = tier
  if (scope.told && typeof actual === 'number') scope.told.savings = actual
}

/** What the answer has cost, and would have cost with the baseline, in USD; null: it is unknown. */
function actualOf(
  { block }: Decision,
  { model, bill, measurement, verdict }: Recorded,
  { catalog, prices }: Pick<Known, 'catalog' | 'prices'>,
): JsonObject | null {
  if (model === undefined || bill?.tokens === undefined || measurement?.read().complete !== true) return null
  const { baseline } = block['estimate'] as { readonly baseline: string | null }
  const record = baseline === null ? undefined : catalog.find(baseline)
  const cost = usd(bill.cost.micros)
  const baselineCost = usd(record && prices.costOf(bill.tokens, withCachePrices(record.pricing), bill))
  const judgeCost = verdict?.cost ?? 0
  const savings = cost === null || baselineCost === null ? null : exact(baselineCost - cost - judgeCost)
  return { cost, baseline_cost: baselineCost, judge_cost: judgeCost, savings }
}

/** A cache that has no price costs what input costs. */
function withCachePrices(pricing: NonNullable<ReturnType<Catalog['find']>>['pricing']) {
  if (pricing?.input === undefined) return pricing
  const { input, cache_read = input, cache_write = input } = pricing
  return { ...pricing, cache_read, cache_write }
}

function usd(micros: number | undefined): number | null {
  return micros === undefined ? null : micros / 1_000_000
}

/** A difference of amounts without the digits that binary numbers add. */
function exact(amount: number): number {
  return Number(amount.toPrecision(12))
}

function lastTried({ notes }: Scope): string | null {
  const tries = notes.get('tries')
  const last: unknown = Array.isArray(tries) ? tries.at(-1) : undefined
  return isObject(last) && typeof last['model'] === 'string' ? last['model'] : null
}
