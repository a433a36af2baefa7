import { guardsSchema } from '../../form/allowances.ts'
import { fieldsOf } from '../../form/schema.ts'
import type { Field, Json, Schema } from '../../form/schema.ts'

const usd = (title: string): Schema => ({ type: ['number', 'null'], minimum: 0, title, 'x-unit': 'USD' })
const tokens = (title: string, description: string): Schema => ({
  type: ['integer', 'null'],
  minimum: 1,
  title,
  description,
  'x-unit': 'tokens',
})
const ability = (title: string, description: string): Schema => ({ type: 'boolean', title, description })
const providerName: Schema = { type: 'string', title: 'Provider', 'x-names': 'provider' }
const upstreamName: Schema = { type: 'string', title: 'Upstream model' }

const tokenPrices: Readonly<Record<string, Schema>> = {
  input: usd('Input, per 1 M tokens'),
  output: usd('Output, per 1 M tokens'),
  cache_read: usd('Read from a cache, per 1 M tokens'),
  cache_write: usd('Written to a cache, per 1 M tokens'),
  cache_write_1h: usd('Written for an hour, per 1 M tokens'),
  reasoning: usd('Reasoning, per 1 M tokens'),
  input_audio: usd('Audio sent, per 1 M tokens'),
  output_audio: usd('Audio answered, per 1 M tokens'),
  input_image: usd('Pictures sent, per 1 M tokens'),
  output_image: usd('Pictures answered, per 1 M tokens'),
}

/** The fields of a model's record, in the order in which they are shown. */
export const properties: Readonly<Record<string, Schema>> = {
  name: {
    type: 'string',
    title: 'Name',
    description: 'What clients ask for. It cannot be changed later. A * at its end stands for any text.',
  },
  provider: { ...providerName, description: 'Who serves it. Not needed where there are deployments.' },
  upstream_model: { ...upstreamName, description: "The provider's own name for it. Not set: the same name." },
  aliases: { type: 'array', items: { type: 'string' }, title: 'Aliases', description: 'Further names for clients.' },
  display_name: { type: ['string', 'null'], title: 'Display name', description: 'Shown to people.' },
  description: { type: ['string', 'null'], maxLength: 4096, title: 'Description', description: 'What it is for.' },
  supports_images: ability('Images', 'It takes images.'),
  supports_tools: ability('Tools', 'It takes tools.'),
  supports_mapeval: ability('Decisions', 'It is a decision model.'),
  supports_realtime: ability('Realtime', 'It serves realtime sessions.'),
  context_length: tokens('Context length', 'Most tokens of input and output together.'),
  max_output_tokens: tokens('Longest answer', 'Most tokens of an answer.'),
  auto_eligible: ability('Candidate of auto', 'Smart routing may choose it.'),
  quality_tier: {
    enum: ['economy', 'balanced', 'premium', null],
    title: 'Quality tier',
    description: 'How good its answers are, for smart routing.',
  },
  routing_assignments: {
    type: ['array', 'null'],
    items: { enum: ['fast', 'auto', 'best'] },
    title: 'Chosen by',
    description: 'Modes of smart routing that may use it. None: all.',
  },
  fallbacks: {
    type: 'array',
    items: { type: 'string', 'x-names': 'model' },
    title: 'Fallbacks',
    description: 'Models to try next, in order.',
  },
  deployments: {
    type: 'array',
    title: 'Deployments',
    description: 'Further places of the same model, after its own provider.',
    items: {
      type: 'object',
      required: ['provider'],
      properties: {
        provider: providerName,
        upstream_model: upstreamName,
        weight: { type: 'number', minimum: 0, title: 'Weight', default: 1 },
      },
    },
  },
  guards: guardsSchema('They judge its requests and answers, beside those that judge everything.'),
  protocols: {
    type: ['array', 'null'],
    items: { type: 'string' },
    title: 'Protocols',
    description: 'Protocols to use with the provider, best first. None: those that it offers.',
  },
  pricing: {
    type: ['object', 'null'],
    title: 'Pricing',
    description: 'What is not priced costs an unknown amount.',
    properties: {
      ...tokenPrices,
      images: usd('Per image'),
      characters: usd('Speech, per 1 M characters'),
      seconds: usd('Audio, per second'),
      requests: usd('Per request'),
      searches: usd('Per web search'),
      tiers: {
        type: 'array',
        title: 'Long inputs',
        description: 'Prices for inputs above a number of tokens, ascending.',
        items: {
          type: 'object',
          required: ['above_input_tokens'],
          properties: {
            above_input_tokens: { type: 'integer', minimum: 1, title: 'Above', 'x-unit': 'tokens' },
            ...tokenPrices,
          },
        },
      },
    },
  },
}

const first = new Set(['name', 'provider', 'upstream_model', 'aliases', 'auto_eligible'])

/** The fields of a new model; what few need is folded. */
export const newFields: readonly Field[] = fieldsOf({ properties, required: ['name'] }).map((field) => ({
  ...field,
  advanced: !first.has(field.name) && !field.name.startsWith('supports_'),
}))

/** Those of one that is there: all but its name. */
export const changedFields: readonly Field[] = newFields.filter(({ name }) => name !== 'name')

/** What holds where nothing is set. */
export const usual: Json = { supports_tools: true, aliases: [], fallbacks: [], deployments: [], guards: [] }

/** The fields of a model as bodies hold them. */
export const valuesOf = (model: object): Json =>
  Object.fromEntries(changedFields.map(({ name }) => [name, (model as Readonly<Record<string, Json>>)[name] ?? null]))
