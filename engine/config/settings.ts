import type { FromSchema } from 'json-schema-to-ts'
import type { ModelRecord } from '../spec/catalog.ts'
import { durationSchema } from '../spec/duration.ts'
import type { Bounds } from '../spec/host.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Registry } from './registry.ts'
import { placedFields } from './placed-settings.ts'
import type { Sections } from './server-settings.ts'
import { serverSettings } from './server-settings.ts'

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
    url: {
      type: 'string',
      pattern: '^https?://[^/?#@\\s]+/?$',
      patternErrorMessage: 'must be an address such as https://gateway.example, without a path',
      description:
        'Address at which clients reach the gateway, such as that of a proxy in front of it. Unset: made of host and port.',
    },
    workers: {
      anyOf: [{ type: 'integer', minimum: 1, maximum: 256 }, { const: 'auto' }],
      default: 1,
      description: 'Processes that share the port; auto: one per core.',
    },
  },
} as const

/** The configuration file (`config/sluice.yaml`) without the lists of records that plugins declare. */
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
      description: 'The key-value store that machines share. Without it, the database keeps what outlives a request.',
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
      description: 'How the gateway shuts down (SIGTERM).',
      properties: {
        notice: {
          ...durationSchema,
          default: '5s',
          description:
            'How long requests are still accepted while /api/health/ready answers 503, so that load balancers notice. ' +
            'On a terminal there is no such notice.',
        },
        deadline: {
          ...durationSchema,
          default: '30s',
          description: 'How long requests in progress may then take before they are aborted.',
        },
      },
    },
    client_timeouts: {
      type: 'object',
      additionalProperties: false,
      default: {},
      description: 'How long clients may take. A change requires a restart.',
      properties: {
        headers: {
          ...durationSchema,
          default: '30s',
          description: 'For the headers of a request to arrive.',
        },
        body_silence: {
          ...durationSchema,
          default: '60s',
          description: 'How long a body may pause while it is being read (408).',
        },
        body: { ...durationSchema, default: '1h', description: 'For a whole request to arrive.' },
        unread: {
          ...durationSchema,
          default: '30s',
          description: 'How long an answer may stay unread before its client is disconnected.',
        },
      },
    },
    catalog: {
      type: 'object',
      additionalProperties: false,
      description: 'What is known of models beside their records.',
      properties: {
        source: {
          type: 'string',
          minLength: 1,
          description:
            'File, or address that starts with https://, of a public list of prices and limits, with which models are compared on request.',
        },
        prices: {
          enum: ['shipped', 'off'],
          default: 'shipped',
          description:
            'Prices of models whose records have none. shipped: those of well-known models in the list that comes with the gateway; off: none.',
        },
      },
    },
    updates: {
      type: 'object',
      additionalProperties: false,
      required: ['url'],
      description: 'Where the newest version stands; absent: nobody is asked.',
      properties: {
        url: {
          type: 'string',
          pattern: '^https://',
          patternErrorMessage: 'must be an address that starts with https://',
          description:
            'Address of a JSON object with `version` or `tag_name`, which GET /api/system/info compares with the running version.',
        },
      },
    },
    plugins: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: ['./plugins'],
      description:
        'Folders, files (starting with ./) or npm packages that add stages, codecs and providers to the shipped ones.',
    },
    pipelines: {
      type: 'string',
      minLength: 1,
      default: './pipelines',
      description: 'Folder of your pipelines; a file replaces the shipped one with the same name.',
    },
    vendors: {
      enum: ['environment', 'off'],
      default: 'off',
      description:
        'environment: adds the providers of the built-in configuration whose variables are set, with their models, unless a record here has their name. off: the lists here are all there is.',
    },
    // Each section is checked by its owners.
    server_config: { type: 'object', default: {}, description: serverSettings.description },
  },
} as const

type FileParts = Pick<Registry, 'records' | 'services' | 'incomplete'>

const formats = new Map<string, object>()

/** JSON Schema of the file with its lists of records, whose items are checked by their types. */
export function fileFormat({ records, services, incomplete }: FileParts): object {
  const places = [...records.values()].map(({ place }) => place)
  const placed = placedFields(services)
  // One schema object per set of places: compiled schemas are cached by identity.
  const key = [...places, JSON.stringify(placed), incomplete].join()
  const lists = Object.fromEntries(places.map((place) => [place, { type: 'array' }]))
  const format = formats.get(key) ?? {
    ...settingsFormat,
    // An unknown field may belong to a plugin that could not be loaded.
    additionalProperties: incomplete,
    properties: { ...settingsFormat.properties, ...placed, ...lists },
  }
  formats.set(key, format)
  return format
}

type SettingsFile = FromSchema<typeof settingsFormat>

/** A declared provider whose fields its type has checked. */
export interface ProviderSettings {
  readonly name: string
  readonly type: string
  readonly config: JsonObject
  /** Why it is off: an unset variable, or its own switch. */
  readonly off?: string
  /** How far it may connect. */
  readonly reach: Bounds['reach']
}

/** A valid configuration with defaults and overrides filled in. */
export interface Settings {
  readonly listen: SettingsFile['listen']
  readonly database: SettingsFile['database']
  readonly key_value?: { readonly url: string }
  readonly shutdown: SettingsFile['shutdown']
  readonly client_timeouts: SettingsFile['client_timeouts']
  readonly catalog?: SettingsFile['catalog']
  readonly updates?: SettingsFile['updates']
  readonly plugins: readonly string[]
  readonly pipelines: string
  readonly providers: readonly ProviderSettings[]
  /** Each with what is known of it beside its record. */
  readonly models: readonly ModelRecord[]
  /** Adds to a model, such as one that a pattern makes, what is known of it beside its record. */
  readonly complete?: (model: ModelRecord) => ModelRecord
  readonly server_config: Sections
}

export type { SettingsFile }
