import type { FromSchema } from 'json-schema-to-ts'
import type { ModelRecord } from '../spec/catalog.ts'
import { durationSchema } from '../spec/duration.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Sections } from './sections.ts'
import { serverSettings } from './server-settings.ts'

const name = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^\\S+$',
  patternErrorMessage: 'must have no spaces',
} as const
const names = { type: 'array', items: name } as const
const price = (what: string) => ({ type: 'number', minimum: 0, description: `USD per million ${what}.` }) as const
const flag = (description: string, fallback: boolean) => ({ type: 'boolean', default: fallback, description }) as const

const listen = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'Where and how the gateway listens.',
  properties: {
    host: {
      type: 'string',
      minLength: 1,
      default: '127.0.0.1',
      description: 'Address to listen on; HOST overrides it.',
    },
    port: {
      type: 'integer',
      minimum: 0,
      maximum: 65535,
      default: 8080,
      description: 'Port to listen on, 0 for any free one; PORT overrides it.',
    },
    workers: {
      anyOf: [{ type: 'integer', minimum: 1, maximum: 256 }, { const: 'auto' }],
      default: 1,
      description: 'Processes that share the port; auto: one per core.',
    },
  },
} as const

const model = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'provider'],
  description: 'A model that clients can name.',
  properties: {
    name: {
      ...name,
      description:
        'The name that clients use. At its end, * stands for any text: one record for many models, such as vendor/*.',
    },
    provider: { ...name, description: 'Name of the provider that serves it.' },
    upstream_model: {
      ...name,
      description: "The provider's name for it; * is what stands there in the name. Unset: the same name, or *.",
    },
    aliases: { ...names, default: [], description: 'Further names that clients may use.' },
    context_length: { type: 'integer', minimum: 1, description: 'Tokens that input and output may have together.' },
    max_output_tokens: { type: 'integer', minimum: 1, description: 'Tokens that an answer may have.' },
    supports_images: flag('Accepts images.', false),
    supports_tools: flag('Accepts tools.', true),
    supports_mapeval: flag('Is a decision model.', false),
    supports_realtime: flag('Serves realtime sessions.', false),
    auto_eligible: flag('Belongs to the pool of the virtual models.', false),
    quality_tier: {
      type: 'string',
      description:
        'How good its answers are, for smart routing: economy, balanced or premium. Any other word is economy.',
    },
    routing_assignments: {
      type: 'array',
      items: { enum: ['fast', 'auto', 'best'] },
      description: 'Modes of smart routing it is restricted to; unset: all.',
    },
    pricing: {
      type: 'object',
      additionalProperties: false,
      description:
        'What it costs. A request that uses something without a price has an unknown cost. Tokens count where they have prices and the provider tells them; otherwise seconds, images and characters do, the first of them that has a price.',
      properties: {
        input: price('input tokens'),
        output: price('output tokens'),
        cache_read: price('tokens read from a cache'),
        cache_write: price('tokens written to a cache'),
        cache_write_1h: {
          type: 'number',
          minimum: 0,
          description: 'USD per million tokens written to a cache for an hour; unset: as `cache_write`.',
        },
        images: { type: 'number', minimum: 0, description: 'USD per picture that is delivered.' },
        characters: price('characters of a text that is spoken'),
        seconds: { type: 'number', minimum: 0, description: 'USD per second of audio that is listened to.' },
      },
    },
    fallbacks: { ...names, default: [], description: 'Models to try next, in order.' },
    protocols: {
      ...names,
      minItems: 1,
      description: 'Protocols to speak to the provider, most wanted first; unset: what it offers.',
    },
  },
} as const

const apiKey = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'key'],
  description: 'An API key of a client.',
  properties: {
    name: { ...name, description: 'Name of the key in logs.' },
    key: {
      type: 'string',
      minLength: 8,
      description: 'The text of the key, best from the environment; while its variable is unset, the key is off.',
    },
    models: { ...names, description: 'Models the key may use, by name or alias; unset: all.' },
    expires_at: { type: 'string', description: 'Date or date and time (RFC 3339) after which the key is refused.' },
  },
} as const

/** The configuration file (`config/sluice.yaml`), but for the fields that each provider type adds to its providers. */
export const settingsFormat = {
  type: 'object',
  additionalProperties: false,
  properties: {
    listen,
    database: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'Where records are kept.',
      properties: {
        url: {
          type: 'string',
          pattern: '^(sqlite:.+|postgres(ql)?://.+)$',
          patternErrorMessage: 'must be sqlite: and a file, or an address that starts with postgres://',
          default: 'sqlite:data/sluice.db',
          description: 'sqlite:<file> or postgres://…; DATABASE_URL overrides it.',
        },
      },
    },
    key_value: {
      type: 'object',
      additionalProperties: false,
      required: ['url'],
      description: 'The key-value store that machines share; absent: what outlives a request is kept in the database.',
      properties: {
        url: {
          type: 'string',
          pattern: '^rediss?://.+$',
          patternErrorMessage: 'must be an address that starts with redis:// or rediss://',
          description: 'redis://… or rediss://…; REDIS_URL overrides it.',
        },
      },
    },
    shutdown: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'How the gateway ends when it is told to (SIGTERM).',
      properties: {
        notice: {
          ...durationSchema,
          default: '5s',
          description:
            'How long requests are still taken while /api/health/ready says 503, so that load balancers notice; on a ' +
            'terminal there is none.',
        },
        deadline: {
          ...durationSchema,
          default: '30s',
          description: 'How long requests under way may then take before they are cut.',
        },
      },
    },
    plugins: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: ['./plugins'],
      description:
        'Folders, files (starting with ./) or npm packages that bring stages, codecs and providers beside the shipped ones.',
    },
    pipelines: {
      type: 'string',
      minLength: 1,
      default: './pipelines',
      description: 'Folder of your pipelines; a file takes the place of the shipped one of its name.',
    },
    providers: {
      type: 'array',
      default: [],
      description: 'Where models are served. A provider whose ${VARIABLE} is unset is off.',
      items: {
        type: 'object',
        required: ['name', 'type'],
        properties: {
          name: { ...name, description: 'Name of the provider.' },
          type: { type: 'string', description: 'Type of the provider, which decides on its further fields.' },
        },
      },
    },
    models: { type: 'array', default: [], description: 'The models, each served by one provider.', items: model },
    api_keys: {
      type: 'array',
      default: [],
      description: 'API keys declared here; others are kept in the database.',
      items: apiKey,
    },
    // Section by section it is checked by those who heed it.
    server_config: { type: 'object', default: {}, description: serverSettings.description },
  },
} as const

type SettingsFile = FromSchema<typeof settingsFormat>

/** A provider as it was declared, its own fields checked by its type. */
export interface ProviderSettings {
  readonly name: string
  readonly type: string
  readonly config: JsonObject
  /** Why it is off: a variable it needs is unset. */
  readonly off?: string
}

/** An API key as it was declared. */
export interface ApiKeySettings {
  readonly name: string
  readonly key: string
  readonly models?: readonly string[]
  /** RFC 3339. */
  readonly expires_at?: string
}

/** A valid configuration, defaults and environment filled in. */
export interface Settings {
  readonly listen: SettingsFile['listen']
  readonly database: SettingsFile['database']
  readonly key_value?: { readonly url: string }
  readonly shutdown: SettingsFile['shutdown']
  readonly plugins: readonly string[]
  readonly pipelines: string
  readonly providers: readonly ProviderSettings[]
  readonly models: readonly ModelRecord[]
  readonly api_keys: readonly ApiKeySettings[]
  readonly server_config: Sections
}

export type { SettingsFile }
