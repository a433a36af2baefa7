import type { FromSchema } from 'json-schema-to-ts'
import type { JsonObject } from '../spec/json.ts'
import { failureFormat, retriesFormat, usualFailures } from './format.ts'
import { durationSchema } from '../spec/duration.ts'

const limit = <const D extends string>(fallback: D, description: string) =>
  ({ ...durationSchema, default: fallback, description }) as const

const bounded = <const D extends string>(fallback: D, least: string, most: string, description: string) =>
  ({ ...durationSchema, 'x-minimum': least, 'x-maximum': most, default: fallback, description }) as const

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
          description: 'Lowest level that is logged; LOG_LEVEL overrides it.',
        },
      },
    },
    resilience: {
      type: 'object',
      additionalProperties: false,
      description: 'What holds when providers are slow, fail or answer too much.',
      properties: {
        max_event_bytes: {
          type: 'integer',
          minimum: 65_536,
          maximum: 67_108_864,
          default: 1_048_576,
          'x-unit': 'bytes',
          description:
            "Maximum bytes of one event of a provider's stream that the gateway parses. Events that are only passed on may be larger.",
        },
        timeouts: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description:
            "How long providers may take. A provider's own timeouts and those of a pipeline take precedence.",
          properties: {
            connect: limit('10s', 'Until a new connection is open, or an existing one is free.'),
            first_byte: limit(
              '10m',
              'Until an answer begins. An answer that is not streamed begins when it is complete.',
            ),
            idle: limit('10m', 'How long an answer that has begun may be silent.'),
            total: limit('1h', 'How long a whole answer may take.'),
          },
        },
        cooldown: limit(
          '30s',
          'How long one of several keys of a provider rests after a 429 that does not say how long.',
        ),
        retries: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description:
            'How failed requests are tried again, before the first byte of an answer. What a pipeline writes takes precedence.',
          properties: {
            tries: {
              ...retriesFormat.tries,
              description: 'Tries of a request in all, with every candidate together.',
            },
            on: {
              type: 'array',
              default: [...usualFailures],
              items: { type: 'string', ...failureFormat },
              description:
                'Failures after which a request is tried again: connect, timeout, invalid (an unreadable answer), guard (a guard wants another try), a status of the provider, or a class of them (4xx, 5xx). With the default list, a candidate is not asked twice in a row after a timeout, or after a 5xx that does not say that the provider is overloaded (503, 529): it may have done the work. With any other list it is.',
            },
            wait: retriesFormat.wait,
            wait_max: {
              ...retriesFormat.wait_max,
              description:
                "Longest wait ever. A provider's own `retry-after` is respected up to it; one that asks for more is not tried again.",
            },
            budget: retriesFormat.budget,
            budget_floor: retriesFormat.budget_floor,
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
            'Addresses and ranges (10.0.0.0/8) of proxies. In requests from these, x-forwarded-for names the client.',
        },
      },
    },
    cors: {
      type: 'object',
      additionalProperties: false,
      description: 'Which other origins may send requests from browsers (CORS).',
      properties: {
        origins: {
          ...origins,
          description:
            'Origins (https://app.example) that may send requests, except below /api; "*": all, without credentials.',
        },
        admin_origins: { ...origins, description: 'Origins that may send requests below /api.' },
        credentials: {
          type: 'boolean',
          default: false,
          description: 'Whether their requests may carry credentials, such as cookies.',
        },
        max_age: limit('10m', 'How long browsers may cache the answer to a preflight request.'),
        allow_headers: {
          ...names,
          description: 'Headers that they may send, in addition to those that clients of the protocols send.',
        },
        expose_headers: {
          ...names,
          description: 'Headers that they may read, in addition to those that the gateway sets.',
        },
      },
    },
    keepalive: {
      type: 'object',
      additionalProperties: false,
      description: 'What keeps connections open.',
      properties: {
        sse_interval: limit(
          '15s',
          'How long a stream to a client may be silent before the gateway sends a keep-alive; 0s: it never sends one.',
        ),
        websocket_ping: bounded(
          '30s',
          '1s',
          '1h',
          'Time between two pings on a WebSocket; a client that answers neither of two counts as gone.',
        ),
        connection_idle: bounded('65s', '1s', '1h', 'How long a connection of a client may be idle.'),
        tcp_delay: bounded(
          '60s',
          '1s',
          '2h',
          'How long a connection may be silent before TCP probes whether it lives.',
        ),
        upstream_idle: bounded('60s', '1s', '1h', 'How long an idle connection to a provider stays open.'),
      },
    },
  },
} as const

/** The checked sections of `server_config`: those of the engine, and those of services, by name. */
export type Sections = JsonObject & {
  readonly [N in keyof EngineSections]: FromSchema<EngineSections[N]>
}

type EngineSections = typeof serverSettings.properties
