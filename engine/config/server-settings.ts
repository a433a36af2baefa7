import { durationSchema } from '../spec/duration.ts'

const limit = <const D extends string>(fallback: D, description: string) =>
  ({ ...durationSchema, default: fallback, description }) as const

/** How the gateway behaves: the sections of `server_config` that the engine and its kit heed. Services bring the others. */
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
