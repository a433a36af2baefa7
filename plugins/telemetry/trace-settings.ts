import { hasCredentials } from '../../engine/kit.ts'
import type { ConfigOf, SectionReport } from '../../engine/index.ts'
import { reserved, reservedNames } from './semantic-conventions.ts'

/** Settings of traces in the section `telemetry`. */
export const traceSettings = {
  type: 'object',
  additionalProperties: false,
  description: 'What is traced, for collectors of OpenTelemetry.',
  properties: {
    traces: {
      type: 'object',
      additionalProperties: false,
      default: {},
      title: 'Traces',
      description: 'Spans of requests and of calls of providers. Variables of the environment say where they are sent.',
      properties: {
        enabled: {
          enum: ['auto', true, false],
          default: 'auto',
          title: 'Enabled',
          description: 'Whether there are spans; auto: if a variable names an exporter of traces or an endpoint.',
        },
        stages: {
          enum: ['off', 'all'],
          default: 'off',
          title: 'Stages',
          description: 'Whether each stage of a pipeline has a span, too.',
        },
        parent: {
          enum: ['always', 'never'],
          default: 'always',
          title: 'Traces of clients',
          description:
            'Whether the trace of a client goes on; never: each request begins one that links to it, such as where clients are strangers.',
        },
        content: {
          enum: ['off', 'span'],
          default: 'off',
          title: 'Content',
          description: 'Whether spans have what was asked and answered, without secrets.',
        },
        content_max_bytes: {
          type: 'integer',
          minimum: 256,
          maximum: 1_048_576,
          default: 65_536,
          'x-unit': 'bytes',
          title: 'Longest content',
          description: 'Bytes of each attribute with content; the rest is cut.',
        },
        headers: {
          type: 'object',
          maxProperties: 16,
          default: {},
          title: 'Attributes from headers',
          propertyNames: {
            pattern: '^[a-zA-Z][a-zA-Z0-9_.-]{0,127}$',
            patternErrorMessage: 'must be letters, digits, "_", "." and "-", and begin with a letter',
          },
          additionalProperties: {
            type: 'string',
            pattern: '^[\\w!#$%&*+.^`|~-]+$',
            patternErrorMessage: 'must be the name of a header',
          },
          description:
            'Attributes that take the value of a header of the request: { session.id: x-session-id }. Values are cut at 256 characters.',
        },
        url: {
          type: 'string',
          maxLength: 2_048,
          default: '',
          title: 'Address of a trace',
          description: 'Link at each request of the log, such as https://traces.example/trace/{trace_id}; empty: none.',
        },
      },
    },
    mcp_context: {
      type: 'boolean',
      default: true,
      title: 'Traces at MCP servers',
      description: 'Whether messages to MCP servers carry the trace context, in `params._meta` and in headers.',
    },
  },
} as const

export type TraceSettings = ConfigOf<typeof traceSettings>

/** Refuses attributes of others, headers with credentials, and an address that shows no trace. */
export function checkTraces({ traces: { headers, url } }: TraceSettings, report: SectionReport): void {
  for (const [attribute, header] of Object.entries(headers)) {
    const path = ['traces', 'headers', attribute]
    const taken = reserved.find((prefix) => attribute.startsWith(prefix))
    if (taken !== undefined) report(path, `attributes of ${taken}* are the gateway's own`)
    if (reservedNames.includes(attribute)) report(path, `the attribute "${attribute}" is the gateway's own`)
    if (hasCredentials(header)) report(path, `the header "${header}" has credentials, which are not traced`)
  }
  const mistake = url === '' ? undefined : mistakeIn(url)
  if (mistake !== undefined) report(['traces', 'url'], mistake, 'address')
}

/** Stands for the id of the trace. */
const placeholder = '{trace_id}'
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** The address that shows a trace; undefined: none is set. */
export function linkTo(traceId: string, { traces: { url } }: TraceSettings): string | undefined {
  return url === '' ? undefined : url.replaceAll(placeholder, traceId)
}

/** What is wrong with the address of a trace: a browser follows it. */
function mistakeIn(url: string): string | undefined {
  if (!url.includes(placeholder)) return `must contain ${placeholder}`
  const address = URL.parse(url.replaceAll(placeholder, '0'.repeat(32)))
  if (address?.protocol === 'https:' || (address?.protocol === 'http:' && loopback.test(address.hostname)))
    return undefined
  return 'must be an address with https, or with http on this machine'
}
