import { durationSchema, isTooShort, tooShort } from '../../engine/kit.ts'
import type { ConfigOf, SectionReport } from '../../engine/index.ts'

/** Header names and their beginnings that never pass from a client to a server. */
const withheld =
  /^(authorization|cookie2?|host|origin|x-api-key|x-goog-api-key|proxy-.*|sec-.*|mcp-.*|forwarded|x-forwarded-.*)$/
/** Headers that belong to a connection or to the gateway's own request (RFC 9110, section 7.6.1). */
const ownHeaders =
  /^(accept|accept-encoding|connection|content-.*|expect|keep-alive|last-event-id|te|trailer|transfer-encoding|upgrade)$/

export const mcpSecurity = {
  type: 'object',
  title: 'MCP',
  additionalProperties: false,
  description: 'What MCP servers and their clients may do.',
  properties: {
    allowed_origins: {
      type: 'array',
      title: 'Origins',
      maxItems: 1_000,
      items: {
        type: 'string',
        pattern: '^https?://[^/?#@\\s*]+$',
        patternErrorMessage: 'must be an origin such as https://app.example, without a path',
      },
      default: [],
      description: "Origins of pages that may reach MCP servers, beside the gateway's own and those of this machine.",
    },
    allowed_hosts: {
      type: 'array',
      title: 'Hosts',
      maxItems: 1_000,
      items: {
        type: 'string',
        pattern: '^[^/?#@\\s*]+$',
        patternErrorMessage: 'must be a name such as gateway.example, or a name and a port',
      },
      default: [],
      description:
        "Names by which clients may reach MCP servers, beside those of the gateway's own address and of this machine. A name without a port allows every port.",
    },
    tool_changes: {
      enum: ['report', 'refuse', 'ignore'],
      title: 'Changed tools',
      default: 'report',
      description:
        'What happens to a tool whose description or schema is no longer the approved one. report: it is reported; refuse: it is also left out until it is approved; ignore: nothing.',
    },
    max_description_bytes: {
      type: 'integer',
      title: 'Longest description',
      minimum: 1,
      maximum: 1_048_576,
      default: 16_384,
      'x-unit': 'bytes',
      description: 'Longest description of a tool; a tool with a longer one is left out.',
    },
    max_answer_bytes: {
      type: 'integer',
      title: 'Longest answer',
      minimum: 1_024,
      maximum: 67_108_864,
      default: 10_485_760,
      'x-unit': 'bytes',
      description: 'Longest message of a server; a longer one is refused.',
    },
    call_timeout: {
      ...durationSchema,
      title: 'Silence of a call',
      'x-minimum': '1ms',
      default: '60s',
      description: 'Longest silence of a server while it answers a call. Streams that wait for messages have no limit.',
    },
    connect_timeout: {
      ...durationSchema,
      title: 'Connecting',
      'x-minimum': '1ms',
      default: '10s',
      description: 'Longest time until a connection to a server is open.',
    },
    sessions_per_key: {
      type: 'integer',
      title: 'Sessions of a key',
      minimum: 1,
      maximum: 10_000,
      default: 64,
      description: 'Most sessions that one API key may have with one server over HTTP at a time.',
    },
    programs_per_key: {
      type: 'integer',
      title: 'Programs of a key',
      minimum: 1,
      maximum: 256,
      default: 8,
      description:
        'Most sessions that one API key may have with one program at a time. Each has a process of its own, unless sessions share one.',
    },
    forward_headers: {
      type: 'array',
      title: 'Headers of clients',
      maxItems: 100,
      items: { type: 'string', pattern: '^[\\w!#$%&*+.^`|~-]+$', patternErrorMessage: 'must be the name of a header' },
      default: [],
      description: 'Headers of clients that are passed on to servers. Credentials cannot be.',
    },
  },
} as const

export type McpSecurity = ConfigOf<typeof mcpSecurity>

export function checkMcpSecurity(given: McpSecurity, report: SectionReport): void {
  const { forward_headers: names } = given
  for (const field of ['call_timeout', 'connect_timeout'] as const)
    if (isTooShort(given[field])) report([field], tooShort, 'timeout', 'warning')
  for (const [index, name] of names.entries()) {
    const lower = name.toLowerCase()
    if (withheld.test(lower)) report(['forward_headers', index], `"${name}" never passes to a server`)
    else if (ownHeaders.test(lower)) report(['forward_headers', index], `the gateway writes "${name}" itself`)
  }
}
