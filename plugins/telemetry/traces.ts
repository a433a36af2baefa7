import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { defineService } from '../../engine/index.ts'
import type { Ingress, Scope, ServiceConfiguration, TraceContext } from '../../engine/index.ts'
import { providersIn } from './call-span.ts'
import type { TelemetryEnvironment } from './environment.ts'
import { other } from './error-type.ts'
import type { Door } from './exchange-span.ts'
import { openTracing } from './open-tracing.ts'
import type { Tracing } from './open-tracing.ts'
import { names } from './semantic-conventions.ts'
import type { Telemetry } from './telemetry.ts'
import { checkTraces, linkTo, traceSettings } from './trace-settings.ts'
import type { TraceSettings } from './trace-settings.ts'
import { TracedExchanges } from './traced-exchanges.ts'
import type { SpanSettings } from './traced-exchanges.ts'
import type { Attributes } from './tracer.ts'

/** A span that another room begins. */
export interface SpanParts {
  /** Low cardinality: it names a kind of work, and nothing of one request. */
  readonly name: string
  readonly kind?: 'internal' | 'client'
  /** At most 128. What is of another type is left out. */
  readonly attributes?: Readonly<Record<string, string | number | boolean | readonly string[]>>
}

/** Ends a span. An error is a code or a word of a fixed list. */
export type EndSpan = (known?: { readonly attributes?: SpanParts['attributes']; readonly error?: string }) => void

/** Spans below that of an exchange. */
export interface Traces {
  readonly enabled: boolean
  /** Whether messages to MCP servers carry the trace context. */
  readonly mcpContext: boolean
  /** The address that shows a trace; undefined: none is set. */
  linkOf(traceId: string): string | undefined
  /** Begins a span below that of an exchange. Costs one check while there are no traces. */
  span(scope: Pick<Scope, 'id'>, span: SpanParts): EndSpan
  /** The context with which a job goes on with the trace of an exchange; without traces, that of its client. */
  contextFor(scope: Pick<Scope, 'id' | 'trace'>, ingress: Ingress | undefined): TraceContext | undefined
}

declare module '../../engine/index.ts' {
  interface Services {
    traces: Traces
  }
}

/** Milliseconds that a process which ends has for what waits to be sent. */
const flushing = 5_000

const nothing: EndSpan = () => undefined

/** Makes spans of requests and calls, and sends them to a collector. */
export default defineService({
  name: 'traces',
  summary: 'Spans of requests and of calls of providers, for collectors of OpenTelemetry.',
  section: 'telemetry',
  settings: traceSettings,
  uses: ['telemetry', 'requests'],
  check: checkTraces,
  open(host) {
    let opening: Promise<Tracing | undefined> | undefined
    let exchanges: TracedExchanges | undefined
    let listens = false
    const channels = [
      ['sluice:exchange:start', (message: unknown) => exchanges?.begins(message as never)],
      ['sluice:exchange:end', (message: unknown) => exchanges?.ends(message as never)],
      ['sluice:call:start', (message: unknown) => exchanges?.calling(message as never)],
      ['sluice:call:end', (message: unknown) => exchanges?.called(message as never)],
      ['sluice:reply', (message: unknown) => exchanges?.replies(message as never)],
    ] as const
    const stages = ['sluice:stage:end', (message: unknown) => exchanges?.ran(message as never)] as const
    let listensToStages = false
    const listen = (enabled: boolean, toStages: boolean) => {
      if (enabled !== listens)
        for (const [name, listener] of channels) (enabled ? subscribe : unsubscribe)(name, listener)
      if (toStages !== listensToStages) (toStages ? subscribe : unsubscribe)(...stages)
      if (listens && !enabled) exchanges?.forget()
      listens = enabled
      listensToStages = toStages
    }
    return {
      async configure(given, { telemetry, requests }, configuration) {
        const { environment } = telemetry
        const { enabled } = given.traces
        const isAsked = enabled === 'auto' ? environment.traces.asks : enabled
        const canSend = isAsked && telemetry.canSend('traces')
        // Awaited, so that the first request has its spans, and none waits.
        if (canSend) opening ??= openedTracing(telemetry, host.version)
        const tracing = canSend ? await opening : undefined
        // The next configuration tries again.
        if (canSend && tracing === undefined) opening = undefined
        const isOn = tracing !== undefined
        const spans = spanSettings(given, environment, configuration, requests.logging.client_address)
        const view: Traces = {
          enabled: isOn,
          mcpContext: given.mcp_context,
          linkOf: (traceId) => linkTo(traceId, given),
          contextFor: ({ id, trace }, ingress) => (listens ? exchanges?.contextOf(id, ingress) : undefined) ?? trace,
          span: (scope, span) => (listens && exchanges ? begun(exchanges, scope, span) : nothing),
        }
        return {
          view,
          live() {
            telemetry.asks('traces', isAsked)
            const settingsOfSpans = { ...spans, scrub: (text: string) => host.scrub(text) }
            if (tracing) {
              exchanges ??= new TracedExchanges(tracing, settingsOfSpans)
              exchanges.follow(settingsOfSpans)
            }
            listen(isOn, isOn && given.traces.stages === 'all')
          },
        }
      },
      async close(limit) {
        listen(false, false)
        await (await opening)?.close(Math.min(flushing, limit))
      },
    }
  },
})

/** The tracer; undefined: it cannot be made, and the gateway serves without. */
async function openedTracing(telemetry: Telemetry, version: string): Promise<Tracing | undefined> {
  try {
    const tracing = await openTracing(telemetry.environment, telemetry.deliveries.traces, version)
    telemetry.opened('traces')
    return tracing
  } catch (error) {
    telemetry.opened('traces', error)
    return undefined
  }
}

function begun(exchanges: TracedExchanges, { id }: Pick<Scope, 'id'>, parts: SpanParts): EndSpan {
  const { name, kind = 'internal', attributes } = parts
  const below = exchanges.below(id, name, kind, checked({}, attributes))
  if (below === undefined) return nothing
  const { span } = below
  let isOver = false
  return (known) => {
    // A span that is held has not ended for its exporter.
    if (isOver) return
    isOver = true
    checked(span.attributes, known?.attributes)
    const error: unknown = known?.error
    if (error !== undefined) {
      span.attributes[names.errorType] = typeof error === 'string' ? error : other
      span.fail()
    }
    below.end()
  }
}

/** Most attributes of a span that another room gives: OpenTelemetry's own limit. */
const mostAttributes = 128

/** Adds what another room says of its span: types are checked nowhere else, and exporters trust what they get. */
function checked(attributes: Attributes, given: SpanParts['attributes']): Attributes {
  let room = mostAttributes - Object.keys(attributes).length
  for (const [name, value] of Object.entries<unknown>(given ?? {})) {
    const known = valueOf(value)
    if (known === undefined || (room <= 0 && !Object.hasOwn(attributes, name))) continue
    if (!Object.hasOwn(attributes, name)) room--
    attributes[name] = known
  }
  return attributes
}

/** What an attribute may be; a list is copied, because whoever gave it may change it. */
function valueOf(value: unknown): Attributes[string] | undefined {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? [...value] : undefined
}

function spanSettings(
  { traces }: TraceSettings,
  environment: TelemetryEnvironment,
  { records, listen }: ServiceConfiguration,
  clientAddress: boolean,
): Omit<SpanSettings, 'scrub'> {
  const { stages, parent, content, content_max_bytes: most, headers } = traces
  return {
    stages: stages === 'all',
    continues: parent === 'always',
    ...(content === 'span' ? { content: most } : {}),
    request: {
      headers: new Map(Object.entries(headers).map(([attribute, header]) => [attribute, header.toLowerCase()])),
      clientAddress,
      door: doorOf(listen),
    },
    propagates: environment.propagates,
    langfuse: /\/api\/public\/otel(\/v1\/traces)?\/?$/.test(new URL(environment.traces.sending.url).pathname),
    providers: providersIn(records),
  }
}

function doorOf({ host, port, url }: ServiceConfiguration['listen']): Door {
  const scheme = url?.startsWith('https:') ? 'https' : 'http'
  return { scheme, host, port }
}
