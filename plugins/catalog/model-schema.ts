import type { ConfigOf } from '../../engine/index.ts'
import { recordName } from '../../engine/kit.ts'

/** An amount of money, with the decimals that costs are computed with. */
const usd = (description: string) =>
  ({ type: 'number', minimum: 0, maximum: 1_000_000_000, 'x-decimals': 9, 'x-unit': 'usd', description }) as const
const price = (what: string) => usd(`USD per million ${what}.`)
const tokens = (description: string) =>
  ({ type: 'integer', minimum: 1, maximum: 1_000_000_000, 'x-unit': 'tokens', description }) as const
const flag = (description: string, fallback: boolean) => ({ type: 'boolean', default: fallback, description }) as const

/** What a part of a bucket costs, where that has a price of its own. */
const part = (what: string, bucket: string) => usd(`USD per million ${what}; unset: as \`${bucket}\`.`)

const tokenPrices = {
  input: price('input tokens'),
  output: price('output tokens'),
  cache_read: price('tokens read from a cache'),
  cache_write: price('tokens written to a cache'),
  cache_write_1h: part('tokens written to a cache for an hour', 'cache_write'),
  reasoning: part('tokens of reasoning', 'output'),
  input_audio: part('tokens of audio that is sent', 'input'),
  output_audio: part('tokens of audio that is answered', 'output'),
  input_image: part('tokens of pictures that are sent', 'input'),
  output_image: part('tokens of pictures that are answered', 'output'),
} as const

/** JSON Schema of a declared model. */
export const modelSchema = {
  type: 'object',
  additionalProperties: false,
  examples: [{ name: 'my-model', provider: 'my-provider', upstream_model: 'their-model' }],
  required: ['name'],
  description: 'A model that clients can name.',
  properties: {
    name: {
      ...recordName,
      description:
        'Name that clients use. A * at its end stands for any text: one record for many models, such as vendor/*.',
    },
    display_name: { type: 'string', minLength: 1, maxLength: 256, description: 'Name to show to people.' },
    description: { type: 'string', maxLength: 4_096, description: 'What the model is for, to show to people.' },
    enabled: flag('Whether clients can name the model.', true),
    provider: {
      ...recordName,
      'x-names': 'provider',
      description: 'Name of the provider that serves the model. Required without deployments.',
    },
    upstream_model: {
      ...recordName,
      description: "The provider's name for it; * is what stands there in the name. Unset: the same name, or *.",
    },
    deployments: {
      type: 'array',
      maxItems: 16,
      default: [],
      description:
        'Further places of the same model, after its own provider; without a provider, all of them. `provider_selection` says which is used.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['provider'],
        description: 'A place that serves the model.',
        properties: {
          provider: { ...recordName, 'x-names': 'provider', description: 'Name of the provider.' },
          upstream_model: {
            ...recordName,
            description: "The provider's name for the model. Unset: that of the model itself.",
          },
          weight: {
            type: 'number',
            minimum: 0,
            maximum: 1_000_000,
            default: 1,
            description: 'Share of the requests if places are chosen by weight; 0: only if the others fail.',
          },
        },
      },
    },
    guards: {
      type: 'array',
      items: { ...recordName, 'x-names': 'guard' },
      maxItems: 32,
      description: 'Guards that judge its requests and answers, beside those that judge all.',
    },
    aliases: {
      type: 'array',
      items: recordName,
      maxItems: 32,
      default: [],
      description: 'Further names that clients may use.',
    },
    context_length: tokens('Most tokens of input and output together.'),
    max_output_tokens: tokens('Most tokens of an answer.'),
    supports_images: flag('Accepts images.', false),
    supports_tools: flag('Accepts tools.', true),
    supports_mapeval: flag('Is a decision model.', false),
    supports_realtime: flag('Serves realtime sessions.', false),
    auto_eligible: flag('Is a candidate of the virtual models.', false),
    quality_tier: {
      type: 'string',
      description:
        'Quality of the answers, for smart routing: economy, balanced or premium. Any other word counts as economy.',
    },
    routing_assignments: {
      type: 'array',
      items: { enum: ['fast', 'auto', 'best'] },
      description: 'Modes of smart routing that may use the model; unset: all.',
    },
    pricing: {
      type: 'object',
      additionalProperties: false,
      description:
        'Prices of the model. The cost of a request is unknown if it used something without a price. Tokens are billed if they have prices and the provider reports them; otherwise seconds, images or characters, the first of them that has a price.',
      properties: {
        ...tokenPrices,
        images: usd('USD per generated image.'),
        characters: price('characters of text turned into speech'),
        seconds: usd('USD per second of transcribed audio.'),
        requests: usd(
          'USD per request, beside what else it costs; where nothing else has a price, it is all that it costs.',
        ),
        searches: usd('USD per web search that the provider made, beside what else the request costs.'),
        tiers: {
          type: 'array',
          minItems: 1,
          description:
            'Prices for long inputs, in ascending order. The highest one that the input is above counts for the whole request.',
          items: {
            type: 'object',
            additionalProperties: false,
            required: ['above_input_tokens'],
            description: 'Prices of tokens; what is not among them costs what it costs without this.',
            properties: {
              above_input_tokens: {
                type: 'integer',
                minimum: 1,
                description: 'Tokens that an input has more than, those of caches among them.',
              },
              ...tokenPrices,
            },
          },
        },
      },
    },
    fallbacks: {
      type: 'array',
      items: { ...recordName, 'x-names': 'model' },
      maxItems: 16,
      default: [],
      description: 'Models to try next, in order.',
    },
    protocols: {
      type: 'array',
      items: { ...recordName, 'x-names': 'protocol' },
      minItems: 1,
      description: 'Protocols to use with the provider, in order of preference; unset: those that it offers.',
    },
  },
} as const

/** A declared model, with defaults filled in. */
export type Model = ConfigOf<typeof modelSchema>
