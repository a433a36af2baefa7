import type { Dispatched, Json, JsonObject, Slots } from '../../engine/index.ts'
import { asText, isObject, shape, tiers, virtualModels } from '../../engine/kit.ts'
import { objectIn } from './decision.ts'

const orNull = {
  text: (description: string) => shape.orNull(shape.text(description)),
  number: (description: string) => shape.orNull(shape.number(description)),
}

const vote = shape.object(
  { reasons: shape.list({ type: 'string' }, 'Why.') },
  {
    abstained: shape.flag('True: it says nothing.'),
    complexity: shape.number('How hard the request is, from 0 to 1.'),
    benefit: shape.number('What a better model would gain, from 0 to 1.'),
    confidence: shape.number('How sure it is, from 0 to 1.'),
    weight: shape.number('How much it counts.'),
    share: shape.number('Its part of the result, from 0 to 1.'),
    features: shape.list({ type: 'number' }, 'What it measured.'),
    version: shape.text('The version of its weights.'),
  },
  'What one signal says.',
)

const gate = shape.object(
  { gate: shape.text('Its name.'), left: shape.integer('How many models it leaves.') },
  { removed: shape.list({ type: 'string' }, 'The models that it removes.') },
)

const candidate = shape.object(
  { model: shape.text('The model.') },
  {
    rank: shape.integer('Its place, from 1.'),
    pass: shape.flag('Whether its quality is high enough.'),
    level: shape.number('Its quality, from 0 to 1.'),
    cost: orNull.number('The expected cost, in USD.'),
    c: shape.number('That cost among the others, from 0 to 1.'),
    mean: shape.number('The probability that its answer is good enough.'),
    draw: shape.number('What was drawn of its distribution.'),
    observations: shape.number('How much is known of it.'),
    pulls: shape.integer('How often it was chosen.'),
    reliability: shape.number('What its reliability counts.'),
    latency: shape.number('What its latency counts.'),
    continuity: shape.number('What it gets for having served the conversation.'),
    score: shape.number('What it is compared by.'),
    excluded: shape.text('The gate that removes it.'),
    because: shape.text('Why that gate removes it.'),
  },
)

const estimate = shape.object(
  {
    input: shape.number('Tokens of input.'),
    output: shape.number('Tokens of output.'),
    cost: orNull.number('The cost, in USD.'),
    baseline: orNull.text('The model that it is compared with.'),
    baseline_cost: orNull.number('What that model would cost, in USD.'),
  },
  {},
  'The expected tokens and costs.',
)

/** JSON Schema of how a request is routed. */
export const previewShape = shape.object({
  mode: shape.word(virtualModels, 'The virtual model.'),
  tier: shape.orNull(shape.word(tiers, 'How hard the request is.')),
  complexity: orNull.number('How hard it is, from 0 to 1.'),
  benefit: orNull.number('What a better model would gain, from 0 to 1.'),
  confidence: orNull.number('How sure that is.'),
  confidence_raw: orNull.number('The same before it is calibrated.'),
  reasoning: shape.text('The steps of the choice, in short.'),
  facts: shape.json('What is known of the request.'),
  votes: shape.orNull(shape.map(vote, 'What each signal says.')),
  gates: shape.list(gate, 'The gates.'),
  floors: shape.list({ type: 'string' }, 'What raises or caps the tier.'),
  judge: shape.object(
    { would_ask: shape.flag('Whether it would be asked.'), because: shape.text('Why.') },
    {},
    'The judge.',
  ),
  candidates: shape.list(
    candidate,
    'The models in the order in which they would be asked, then those that are excluded.',
  ),
  chosen: orNull.text('The model that is chosen.'),
  estimate: shape.orNull(estimate),
  error: shape.orNull(
    shape.object(
      {
        status: shape.integer('Its status.'),
        code: shape.text('Its code.'),
        message: shape.text('What is wrong.'),
      },
      {},
      'The error by which the request would be refused.',
    ),
  ),
})

/** How a request was routed, or refused, in a preview. Money in USD. */
export function shownPreview({ slots, notes, outcome }: Dispatched, model: string): JsonObject {
  const { ensemble, shortlist, verdict, decision } = slots
  const block = decision?.block ?? objectIn(notes.get('routing'))
  const tier = decision?.tier ?? block['tier'] ?? ensemble?.tier ?? null
  const parts = textsIn(block['notes'])
  const gates = shortlist ? shortlist.gates.map((gate) => ({ ...gate })) : objectsIn(block['gates'])
  const { error } = outcome
  return {
    mode: model.toLowerCase(),
    tier,
    complexity: decision?.complexity ?? block['complexity'] ?? ensemble?.complexity ?? null,
    benefit: decision?.benefit ?? block['benefit'] ?? ensemble?.benefit ?? null,
    confidence: ensemble?.confidence ?? null,
    confidence_raw: ensemble?.confidenceRaw ?? null,
    reasoning: decision?.reasoning ?? [...(tier === null ? [] : [`tier=${asText(tier)}`]), ...parts].join(' | '),
    facts: ensemble?.facts ?? null,
    votes: (ensemble?.votes as unknown as JsonObject | undefined) ?? null,
    gates,
    floors: parts.filter((part) => /^(floor|cap)=/.test(part)),
    judge: judgeOf(verdict, error !== undefined),
    candidates: [...ranked(decision), ...excluded(gates)],
    chosen: block['chosen'] ?? null,
    estimate: block['estimate'] ?? null,
    error: error ? { status: outcome.status, code: error.code, message: error.message } : null,
  }
}

function judgeOf(verdict: Slots['verdict'] | undefined, isRefused: boolean): JsonObject {
  const { ask, because } = verdict?.wouldAsk ?? { ask: false, because: isRefused ? 'refused' : 'off' }
  return { would_ask: ask, because }
}

/** The models in the order in which they would be asked, with what was counted of each. */
function ranked(decision: Slots['decision'] | undefined): readonly JsonObject[] {
  if (decision === undefined) return []
  const cards = objectsIn(objectIn(decision.block['diagnostics'])['scorecards'])
  const byModel = new Map(cards.map((card) => [card['model'], card]))
  return decision.candidates.map(({ model, cost, pass }, index) => ({
    model,
    rank: index + 1,
    cost,
    pass,
    ...byModel.get(model),
  }))
}

/** Why a gate removes a model. */
const reasons: Readonly<Record<string, string>> = {
  allowlist: 'The allowlist of the key or its owner lacks it.',
  constraints: 'The request excludes it.',
  assignment: 'It is not assigned to this mode.',
  images: 'It takes no images.',
  tools: 'It takes no tools.',
  context: 'The request and its answer do not fit into its context.',
  money: 'It costs more than may be spent.',
}

function excluded(gates: readonly JsonObject[]): readonly JsonObject[] {
  return gates.flatMap(({ gate, removed }) =>
    textsIn(removed).map((model) => ({
      model,
      excluded: asText(gate),
      because: reasons[asText(gate)] ?? 'It does not pass this gate.',
    })),
  )
}

function objectsIn(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function textsIn(list: Json | undefined): readonly string[] {
  return Array.isArray(list) ? list.map(asText) : []
}
