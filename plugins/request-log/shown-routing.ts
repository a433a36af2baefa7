import { shape, tiers } from '../../engine/kit.ts'

const orNull = {
  text: (description: string) => shape.orNull(shape.text(description)),
  number: (description: string) => shape.orNull(shape.number(description)),
}

const vote = shape.object(
  {},
  {
    abstained: shape.flag('True: it said nothing.'),
    complexity: shape.number('How hard the request is, from 0 to 1.'),
    benefit: shape.number('What a better model would gain, from 0 to 1.'),
    confidence: shape.number('How sure it is, from 0 to 1.'),
    weight: shape.number('How much it counts.'),
    share: shape.number('Its part of the result, from 0 to 1.'),
    reasons: shape.list({ type: 'string' }, 'Why.'),
    features: shape.list({ type: 'number' }, 'What it measured.'),
    version: shape.text('The version of its weights.'),
  },
  'What one signal said.',
)

const scorecard = shape.object(
  { model: shape.text('The model.') },
  {
    level: shape.number('Its quality, from 0 to 1.'),
    cost: orNull.number('The cost that was predicted, in USD.'),
    c: shape.number('That cost among the others, from 0 to 1.'),
    mean: shape.number('The probability that its answer is good enough.'),
    draw: shape.number('What was drawn of its distribution.'),
    observations: shape.number('How much is known of it.'),
    pulls: shape.integer('How often it was chosen.'),
    reliability: shape.number('What its reliability counted.'),
    latency: shape.number('What its latency counted.'),
    continuity: shape.number('What it got for having served the conversation.'),
    score: shape.number('What it was compared by.'),
    excluded: shape.text('The gate that removed it.'),
  },
)

const gate = shape.object(
  { gate: shape.text('Its name.'), left: shape.integer('How many models it left.') },
  { removed: shape.list({ type: 'string' }, 'The models that it removed.') },
)

const judge = shape.object(
  {
    model: shape.text('The model that was asked.'),
    shadow: shape.flag('Whether it had no effect on purpose.'),
    verdict: shape.orNull(shape.word(tiers, 'The tier that it named; null: none that counts.')),
    distribution: shape.orNull(
      shape.object(
        Object.fromEntries(tiers.map((tier) => [tier, shape.number(`The probability of ${tier}.`)])),
        {},
        'The probability of each tier.',
      ),
    ),
    applied: shape.flag('Whether it changed the choice.'),
    held: shape.flag('Whether it was too unsure to change the choice.'),
    latency_ms: orNull.number('How long it took, in milliseconds.'),
    error: orNull.text('Why it said nothing.'),
  },
  {
    request_id: orNull.text('Id of its request.'),
    gate_fired: shape.flag('Whether the signals were unsure.'),
    sampled: shape.flag('Whether a lot chose the request.'),
    sample_p: orNull.number('The probability of that lot.'),
    asked: shape.flag('Whether it was asked.'),
    mass: orNull.number('The probability of the verdict.'),
    escalation: orNull.number('The probability of the tiers above that of the signals.'),
    input_tokens: orNull.number('The tokens that it read.'),
    cost: orNull.number('What it cost, in USD.'),
    cost_origin: orNull.text('Where the price is from.'),
  },
  'What the judge said; null: it was not asked.',
)

const diagnostics = shape.object(
  {},
  {
    signal_votes: shape.map(vote, 'What each signal said.'),
    weights: shape.map({ type: 'number' }, 'What quality counted.'),
    guardrails: shape.list({ type: 'string' }, 'What raised or capped the tier.'),
    gates: shape.list(gate, 'The gates that removed models.'),
    scorecards: shape.list(scorecard, 'What each model was compared by, in order, then what gates removed.'),
  },
  'How that came about; absent: there was no room for it.',
)

/** JSON Schema of how smart routing chose. Rows of earlier versions lack some of it. */
export const routingShape = shape.object(
  {},
  {
    v: shape.integer('Version of this object.'),
    mode: shape.text('The virtual model.'),
    tier: shape.orNull(shape.word(tiers, 'How hard the request is.')),
    complexity: orNull.number('How hard it is, from 0 to 1.'),
    benefit: orNull.number('What a better model would gain, from 0 to 1.'),
    confidence: orNull.number('How sure that is.'),
    confidence_raw: orNull.number('The same before it is calibrated.'),
    map: orNull.text('The version of that calibration.'),
    weights_version: orNull.text('The version of the weights of the signals.'),
    ensemble: shape.orNull(
      shape.object(
        {
          complexity: shape.number('How hard the request is, from 0 to 1.'),
          tier: shape.word(tiers, 'The tier.'),
        },
        { benefit: shape.number('What a better model would gain, from 0 to 1.') },
        'What the signals saw, before the judge, floors and caps.',
      ),
    ),
    notes: shape.list({ type: 'string' }, 'The steps of the choice, in short.'),
    conversation: orNull.text('Hash of the conversation.'),
    incumbent: orNull.text('The model that served the conversation last.'),
    candidates: shape.list({ type: 'string' }, 'The models in the order in which they were asked.'),
    chosen: orNull.text('The model that was chosen.'),
    served: orNull.text('The model that answered.'),
    explored: shape.flag('Whether the choice was a lot.'),
    estimate: shape.orNull(
      shape.object(
        {
          cost: orNull.number('The cost, in USD.'),
          baseline: orNull.text('The model that it is compared with.'),
          baseline_cost: orNull.number('What that model would cost, in USD.'),
        },
        { input: shape.number('Tokens of input.'), output: shape.number('Tokens of output.') },
        'What was expected.',
      ),
    ),
    actual: shape.orNull(
      shape.object(
        {
          cost: orNull.number('The cost, in USD.'),
          savings: orNull.number('What the choice saved, in USD.'),
        },
        {
          baseline_cost: orNull.number('What the model would have cost that it is compared with, in USD.'),
          judge_cost: shape.number('What the judge cost, in USD.'),
        },
        'What came of it; null: unknown.',
      ),
    ),
    propensity: shape.json('How the lot was drawn, to make the choice again.'),
    judge: shape.orNull(judge),
    features: shape.json('What was measured of the request.'),
    error: orNull.text('The code of the error by which it was refused.'),
    diagnostics,
  },
  'How smart routing chose; null: it did not.',
)
