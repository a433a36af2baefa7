import { defineService } from '../../engine/index.ts'

/** Stands for the id of the trace. */
const placeholder = '{trace_id}'
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** The setting `traces.url` of the section `telemetry`. */
export const traceUrl = {
  type: 'string',
  maxLength: 2_048,
  default: '',
  title: 'Address of a trace',
  description: 'Link at each request of the log, such as https://traces.example/trace/{trace_id}; empty: none.',
} as const

const settings = {
  type: 'object',
  additionalProperties: false,
  properties: {
    traces: {
      type: 'object',
      additionalProperties: false,
      default: {},
      title: 'Traces',
      description: 'Where the traces of requests are shown.',
      properties: { url: traceUrl },
    },
  },
} as const

/** Leads to where traces are shown. */
export interface TraceLinks {
  /** The address that shows a trace; undefined: none is set. */
  linkOf(traceId: string): string | undefined
}

declare module '../../engine/index.ts' {
  interface Services {
    trace_links: TraceLinks
  }
}

/** Knows where the traces of requests are shown. */
export default defineService({
  name: 'trace_links',
  summary: 'Where the traces of requests are shown.',
  section: 'telemetry',
  settings,
  check({ traces: { url } }, report) {
    const mistake = url === '' ? undefined : mistakeIn(url)
    if (mistake !== undefined) report(['traces', 'url'], mistake, 'address')
  },
  open: () => ({
    configure: ({ traces: { url } }) => ({
      view: { linkOf: (traceId) => (url === '' ? undefined : url.replaceAll(placeholder, traceId)) },
    }),
  }),
})

/** What is wrong with the address of a trace: a browser follows it. */
function mistakeIn(url: string): string | undefined {
  if (!url.includes(placeholder)) return `must contain ${placeholder}`
  const address = URL.parse(url.replaceAll(placeholder, '0'.repeat(32)))
  if (address?.protocol === 'https:' || (address?.protocol === 'http:' && loopback.test(address.hostname)))
    return undefined
  return 'must be an address with https, or with http on this machine'
}
