import { durationSchema } from '../spec/duration.ts'

const limit = <const D extends string>(fallback: D, description: string) =>
  ({ ...durationSchema, default: fallback, description }) as const

const domains = (description: string) =>
  ({
    type: 'array',
    maxItems: 100,
    items: {
      type: 'string',
      minLength: 1,
      maxLength: 256,
      pattern: '^[^\\s/:]+(/\\S*)?$',
      patternErrorMessage: 'must be a host, with a path or none, and no scheme',
    },
    default: [],
    description,
  }) as const

const webSearch = {
  type: 'object',
  additionalProperties: false,
  description: "What becomes of a provider's search of the web that a client asks for.",
  properties: {
    mode: {
      enum: ['native', 'off'],
      default: 'native',
      description: 'native: the tool goes to providers that know it; off: to none. Where it does not go, it is a loss.',
    },
    allowed_domains: domains(
      'Only these domains, and what lies below them, are searched, whatever a client asks; [] = all.',
    ),
    blocked_domains: domains('Domains that are never searched, beside those a client blocks.'),
    context_size: {
      enum: ['low', 'medium', 'high', null],
      default: null,
      description: 'How much of what is found goes into the context where a client does not say it.',
    },
    max_uses: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 100,
      default: null,
      description: 'Most searches of one answer, where the protocol of the provider can say it.',
    },
  },
} as const

/** `server_config` of the configuration file: how the gateway behaves, section by section. */
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
    web_search: webSearch,
    request_policy: {
      type: 'object',
      additionalProperties: false,
      description: 'What is made of requests and answers.',
      properties: {
        stored_responses: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: 'What one API key may have stored; beyond it, requests that store are refused with 429.',
          properties: {
            bytes: {
              type: 'integer',
              minimum: 0,
              default: 1_073_741_824,
              description: 'Bytes of its stored responses together, as they are kept: compressed, each turn once.',
            },
            count: { type: 'integer', minimum: 0, default: 10_000, description: 'Stored responses.' },
            background: {
              type: 'integer',
              minimum: 0,
              default: 100,
              description: 'Responses in the background that have not ended.',
            },
          },
        },
        answer_model: {
          enum: ['upstream', 'gateway'],
          default: 'upstream',
          description:
            "The model that answers name: upstream: the provider's word for what answered; gateway: the name of the model's own record, but in events of streams beyond `resilience.max_event_bytes`, which pass unread.",
        },
        prompt_caching: {
          enum: ['off', 'asked', 'auto'],
          default: 'asked',
          description:
            'Cache marks toward messages upstreams for clients that cannot set them: off: never; asked: for requests with a prompt_cache_key; auto: always.',
        },
      },
    },
    resilience: {
      type: 'object',
      additionalProperties: false,
      description: 'What is borne of providers.',
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
      description: 'What clients may make the gateway do.',
      properties: {
        file_urls: {
          type: 'object',
          additionalProperties: false,
          default: {},
          description: 'Files that clients name by their address, for providers that take only their bytes.',
          properties: {
            fetch: { type: 'boolean', default: true, description: 'Fetch them; else such a request is refused.' },
            allow_private: {
              type: 'boolean',
              default: false,
              description:
                'Also fetch from private networks and this machine, and from any port. For gateways whose clients are trusted with what is there.',
            },
            max_bytes: {
              type: 'integer',
              minimum: 1,
              maximum: 67_108_864,
              default: 20_971_520,
              description: 'Most bytes one file may have.',
            },
            timeout: limit('10s', 'How long fetching all files of a request may take.'),
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
