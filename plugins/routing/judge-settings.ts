const share = { minimum: 0, maximum: 1 } as const

/** A share that may be unset. */
const bar = (title: string, description: string) =>
  ({ type: ['number', 'null'], title, ...share, default: null, description }) as const

/** The routing judge in the section `smart_routing`. */
export const judge = {
  type: 'object',
  title: 'Judge',
  additionalProperties: false,
  default: {},
  description: 'A decision model that is asked for the tier of a request of which the signals are unsure.',
  properties: {
    enabled: { type: 'boolean', title: 'On', default: false, description: 'Whether the judge is asked at all.' },
    shadow: {
      type: 'boolean',
      title: 'Shadow',
      default: true,
      description: 'Whether its verdicts are only recorded, without an effect.',
    },
    model: {
      type: ['string', 'null'],
      title: 'Model',
      default: null,
      'x-names': 'model',
      description: 'The model that judges; its record must have `supports_mapeval`.',
    },
    modes: {
      type: 'array',
      title: 'Modes',
      uniqueItems: true,
      items: { enum: ['fast', 'auto', 'best'] },
      default: ['auto', 'best'],
      description: 'Virtual models whose requests are judged.',
    },
    gate: {
      type: 'object',
      title: 'Gate',
      additionalProperties: false,
      default: {},
      description: 'When the judge is asked: if all that is set holds. Nothing set: never.',
      properties: {
        max_confidence: bar('Confidence below', 'The confidence of the signals is below this.'),
        complexity_band: {
          type: ['array', 'null'],
          title: 'Complexity within',
          minItems: 2,
          maxItems: 2,
          items: { type: 'number', ...share },
          default: null,
          description: 'The complexity is at least the first number and below the second.',
        },
        not_low_anchor: {
          type: 'boolean',
          title: 'Above the low anchor',
          default: false,
          description: 'The complexity is not 0, which only greetings and the like have.',
        },
      },
    },
    sample_rate: {
      type: 'number',
      title: 'Sample rate',
      ...share,
      default: 0.02,
      description:
        'Share of the first turns for which the gate is closed that are asked about all the same. Shadow only.',
    },
    apply_min_confidence: bar('Least mass', 'Probability that the verdict must have to be applied; null: any.'),
    apply_min_escalation: bar(
      'Least escalation',
      'Probability of tiers above that of the signals from which the verdict is applied, too; null: any.',
    ),
    deadline_s: {
      type: 'number',
      title: 'Deadline',
      exclusiveMinimum: 0,
      maximum: 60,
      default: 1.5,
      'x-unit': 's',
      description: 'Seconds that the judge has.',
    },
    user_turns: {
      type: 'integer',
      title: 'Earlier turns',
      minimum: 0,
      maximum: 20,
      default: 2,
      description: 'Number of earlier messages of the user that the judge sees.',
    },
    ask_budget_chars: {
      type: 'integer',
      title: 'Characters',
      minimum: 100,
      maximum: 100_000,
      default: 4_000,
      description: 'Most characters of the messages that the judge sees.',
    },
    price: {
      type: ['object', 'null'],
      title: 'Price',
      additionalProperties: false,
      required: ['input'],
      default: null,
      description: 'Price of the judge in place of that of its record.',
      properties: {
        input: {
          type: 'number',
          title: 'Input',
          minimum: 0,
          maximum: 1_000_000_000,
          'x-unit': 'usd',
          description: 'USD per million tokens of input.',
        },
      },
    },
    circuit: {
      type: 'object',
      title: 'Circuit',
      additionalProperties: false,
      default: {},
      description: 'When the judge is left alone because it fails.',
      properties: {
        failures: {
          type: 'integer',
          title: 'Failures',
          minimum: 1,
          maximum: 1_000,
          default: 5,
          description: 'Failures in a row after which it is not asked for a while.',
        },
        open_s: {
          type: 'number',
          title: 'Pause',
          exclusiveMinimum: 0,
          maximum: 86_400,
          default: 30,
          'x-unit': 's',
          description: 'Seconds after which one request may ask it again.',
        },
      },
    },
  },
} as const
