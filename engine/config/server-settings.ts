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
      default: {},
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
      default: {},
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
      },
    },
  },
} as const
