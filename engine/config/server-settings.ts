import { durationSchema } from '../spec/duration.ts'

const limit = <const D extends string>(fallback: D, description: string) =>
  ({ ...durationSchema, default: fallback, description }) as const

const origins = { type: 'array', default: [], items: { type: 'string', minLength: 1 } } as const
const names = {
  type: 'array',
  default: [],
  items: {
    type: 'string',
    pattern: '^[\\w!#$%&*+.^`|~-]+$',
    patternErrorMessage: 'must be the name of a header',
  },
} as const

/** The sections of `server_config` that the engine and its kit use. Services declare the others. */
export const serverSettings = {
  type: 'object',
  additionalProperties: false,
  default: {},
  description: 'How the gateway behaves.',
  properties: {
    logging: {
      type: 'object',
      additionalProperties: false,
      description: 'What is logged.',
      properties: {
        level: {
          enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
          default: 'info',
          description: 'Least level that is logged; LOG_LEVEL overrides it.',
        },
      },
    },
    resilience: {
      type: 'object',
      additionalProperties: false,
      description: 'How slow and oversized answers of providers are handled.',
      properties: {
        max_event_bytes: {
          type: 'integer',
          minimum: 65_536,
          maximum: 67_108_864,
          default: 1_048_576,
          description:
            "Most bytes of one event of a provider's stream where it is read. Events that are only passed on may be larger.",
        },
        timeouts: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: "How long providers may take; a provider's own timeouts and those of a pipeline go first.",
          properties: {
            connect: limit('10s', 'Until there is a connection, by itself or by waiting for a free one.'),
            first_byte: limit('10m', 'Until an answer begins. One that is not streamed begins when it is done.'),
            idle: limit('10m', 'How long an answer that has begun may be silent.'),
            total: limit('1h', 'How long a whole answer may take.'),
          },
        },
      },
    },
    security: {
      type: 'object',
      additionalProperties: false,
      description: 'Who is trusted.',
      properties: {
        trusted_proxies: {
          type: 'array',
          default: [],
          items: { type: 'string', minLength: 1 },
          description:
            'Addresses and ranges (10.0.0.0/8) of proxies. Of a request that comes from one, x-forwarded-for says who its client is.',
        },
      },
    },
    cors: {
      type: 'object',
      additionalProperties: false,
      description: 'Which pages of other sites may ask in browsers (CORS).',
      properties: {
        origins: {
          ...origins,
          description:
            'Origins (https://app.example) that may ask everywhere but below /api; "*": all, without credentials.',
        },
        admin_origins: { ...origins, description: 'Origins that may ask below /api.' },
        credentials: {
          type: 'boolean',
          default: false,
          description: 'Whether their requests may carry cookies and the like.',
        },
        max_age: limit('10m', 'How long browsers may keep what a preflight has said.'),
        allow_headers: {
          ...names,
          description: 'Headers that they may send, beside those that clients of the protocols send.',
        },
        expose_headers: { ...names, description: 'Headers that they may read, beside those that the gateway sets.' },
      },
    },
    keepalive: {
      type: 'object',
      additionalProperties: false,
      description: 'What keeps connections open.',
      properties: {
        sse_interval: limit(
          '15s',
          'How long a stream toward a client may be silent before the gateway says that it is still there; 0s: for ever.',
        ),
      },
    },
  },
} as const
