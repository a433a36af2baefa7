import type { ConfigOf } from '../../engine/index.ts'
import { tiers } from '../../engine/kit.ts'
import { judge } from './judge-settings.ts'

interface Range {
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

const number = <N extends number, R extends Range>(title: string, value: N, range: R, description: string) =>
  ({ type: 'number', title, ...range, default: value, description }) as const

const share = { minimum: 0, maximum: 1 } as const
const ratio = { minimum: 1, maximum: 1_000 } as const

/** A number per mode. */
const perMode = <R extends Range>(
  title: string,
  range: R,
  { fast, auto, best }: { readonly fast: number; readonly auto: number; readonly best: number },
  description: string,
) =>
  ({
    type: 'object',
    title,
    additionalProperties: false,
    default: {},
    description,
    properties: {
      fast: number('fast', fast, range, 'For requests for fast.'),
      auto: number('auto', auto, range, 'For requests for auto.'),
      best: number('best', best, range, 'For requests for best.'),
    },
  }) as const

/** The tier of floors and caps that are not set. */
export const usualTier = 'MEDIUM'

const tier = (title: string, description: string) =>
  ({ enum: [...tiers, 'none', null], title, default: usualTier, description }) as const

/** The section `smart_routing`. */
export const settings = {
  type: 'object',
  title: 'Smart routing',
  additionalProperties: false,
  description: 'How the virtual models fast, auto and best choose a model for each request.',
  properties: {
    enabled: {
      type: 'boolean',
      title: 'On',
      default: false,
      description: 'Whether the virtual models fast, auto and best are served.',
    },
    graceful_degradation: {
      type: 'boolean',
      title: 'Graceful degradation',
      default: false,
      description:
        'Whether a request is served rather than refused if no model is assigned to its mode, or if only its input fits into a model. Images, the allowlist and money are never relaxed.',
    },
    diagnostics: {
      type: 'boolean',
      title: 'Diagnostics',
      default: false,
      description: 'Whether rows of the request log tell all that a decision was made of.',
    },
    baseline_model: {
      type: ['string', 'null'],
      title: 'Baseline',
      default: null,
      'x-names': 'model',
      description:
        'What the requests would use without smart routing, to which savings are relative. Null: the cheapest candidate of the highest quality tier.',
    },
    default_complexity: number(
      'Default complexity',
      0.5,
      share,
      'Complexity and benefit of a request that no signal judges.',
    ),
    quality_weights: perMode(
      'Weight of quality',
      share,
      { fast: 0.35, auto: 0.65, best: 1 },
      'How much quality counts against cost. It rises with the benefit of the request: what a better model gains.',
    ),
    quality_gate: perMode(
      'Quality gate',
      share,
      { fast: 0.5, auto: 0.6, best: 0.85 },
      'Share of the best expected quality below which a model is only tried after all others.',
    ),
    floors: {
      type: 'object',
      title: 'Lowest tiers',
      additionalProperties: false,
      default: {},
      description: 'The lowest tier of some requests; none: no limit; null: the default. Floors win over caps.',
      properties: {
        vision: tier('Images', 'If the last message of the user has an image.'),
        structured_output: tier('Structured output', 'If the answer must match a JSON schema.'),
        final_verification: tier('Final verification', 'If an agent verifies what it has written just before.'),
      },
    },
    caps: {
      type: 'object',
      title: 'Highest tiers',
      additionalProperties: false,
      default: {},
      description: 'The highest tier of some requests; none: no limit; null: the default.',
      properties: {
        routine_success: tier('Routine', 'If an agent only reads, and its last calls of tools have succeeded.'),
      },
    },
    continuity: {
      type: 'object',
      title: 'Continuity',
      additionalProperties: false,
      default: {},
      description: 'Preference for the model that served the conversation within the last 30 minutes.',
      properties: {
        bonus: number('Bonus', 0.05, share, 'What its score gains.'),
      },
    },
    exploration: {
      type: 'object',
      title: 'Exploration',
      additionalProperties: false,
      default: {},
      description: 'How new models, and those that were seldom used, get a chance. Steps of agents explore nothing.',
      properties: {
        enabled: {
          type: 'boolean',
          title: 'On',
          default: true,
          description:
            'Whether some decisions are random, so that routing learns about other models. If not, equal requests get equal decisions.',
        },
        warmup_pulls: {
          type: 'integer',
          title: 'Trials',
          minimum: 0,
          maximum: 1_000,
          default: 3,
          description: 'How often each model is tried per mode and tier.',
        },
        trial_share: number('Share of trials', 0.1, share, 'Share of decisions that may be trials.'),
        max_cost_ratio: perMode(
          'Cost of a trial',
          ratio,
          { fast: 1.7, auto: 2.8, best: 2.2 },
          'How many times as much as the best candidate a trial may cost.',
        ),
        budget_share: number(
          'Share of the costs',
          0.05,
          share,
          'Share of the costs of the last 24 hours that exploration may have added.',
        ),
      },
    },
    experience: {
      type: 'object',
      title: 'Experience',
      additionalProperties: false,
      default: {},
      description: 'What is learned from answers and feedback.',
      properties: {
        window: {
          type: 'integer',
          title: 'Window',
          minimum: 1,
          maximum: 10_000,
          default: 100,
          description: 'Number of latest observations that count, per model, mode and tier.',
        },
        prior_strength: number(
          'Strength of the expectation',
          5,
          { exclusiveMinimum: 0, maximum: 1_000 },
          'How many observations the quality expected of a quality tier is worth.',
        ),
        implicit: {
          type: 'boolean',
          title: 'Implicit evidence',
          default: true,
          description: 'Whether the gateway also learns from how conversations go on, not only from feedback.',
        },
      },
    },
    keep_prompts: {
      type: 'boolean',
      title: 'Keep prompts',
      default: true,
      description: 'Whether the last question of each request is kept, sealed, for the export of training data.',
    },
    seed: {
      type: ['string', 'null'],
      title: 'Seed',
      minLength: 1,
      maxLength: 256,
      default: null,
      description:
        'Text from which random numbers follow, together with the id of the request. Null: from the id alone.',
    },
    judge,
  },
} as const

export type RoutingSettings = ConfigOf<typeof settings>

/** Which figures of models count: without exploration those of the last full hour, so that equal requests are decided alike. */
export function measuredBy({ exploration }: Pick<RoutingSettings, 'exploration'>): 'now' | 'hour' {
  return exploration.enabled ? 'now' : 'hour'
}
