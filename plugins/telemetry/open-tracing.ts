import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type * as Api from '@opentelemetry/api'
import type * as Sdk from '@opentelemetry/sdk-trace'
import type { Resource } from '@opentelemetry/resources'
import type { Sampler, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Delivery } from './delivery.ts'
import type { Sampling, Sending, TelemetryEnvironment } from './environment.ts'
import { Tracer } from './tracer.ts'
import type { Span } from './tracer.ts'

/** The tracer of this process. */
export interface Tracing {
  readonly api: typeof Api
  readonly tracer: Tracer
  /** Sends what waits, and ends. Takes at most so many milliseconds; never rejects. */
  close(limit: number): Promise<void>
}

/** Loads the SDK of OpenTelemetry, and makes a tracer. Nothing of it is registered for all of the process. */
export async function openTracing(
  environment: TelemetryEnvironment,
  delivery: Delivery,
  version: string,
): Promise<Tracing> {
  const [api, sdk, resource] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    resourceOf(environment, version),
  ])
  const { traces, batch, sampling, valueLength } = environment
  const processors: SpanProcessor[] = []
  if (traces.otlp) {
    const exporter = new CountedExporter(await traceExporter(traces.sending), delivery)
    processors.push(new CountedQueue(new sdk.BatchSpanProcessor({ ...batch, exporter }), exporter, batch))
  }
  if (traces.console) processors.push(new sdk.SimpleSpanProcessor({ exporter: new sdk.ConsoleSpanExporter() }))
  const origin = { resource, scope: { name: 'sluice', version }, valueLength: valueLength || Infinity, processors }
  return {
    api,
    tracer: new Tracer(api, samplerOf(sampling, sdk), new sdk.RandomIdGenerator(), origin),
    close: (limit) => closing(Promise.all(processors.map((processor) => processor.shutdown())), limit),
  }
}

/** Waits until what waits is sent, at most so many milliseconds. What could not be sent is counted. */
export async function closing(ending: Promise<unknown>, limit: number): Promise<void> {
  const over = Promise.withResolvers<void>()
  const timer = setTimeout(over.resolve, limit)
  await Promise.race([ending.catch(() => undefined), over.promise])
  clearTimeout(timer)
}

const instance = randomUUID()

/** What this process is. Never how it was started. */
export async function resourceOf(
  { resource, serviceName }: Pick<TelemetryEnvironment, 'resource' | 'serviceName'>,
  version: string,
): Promise<Resource> {
  const { defaultResource, resourceFromAttributes } = await import('@opentelemetry/resources')
  const usual = Object.entries(defaultResource().attributes).filter(([name]) => name.startsWith('telemetry.sdk.'))
  return resourceFromAttributes({
    ...Object.fromEntries(usual),
    'service.version': version,
    'service.instance.id': instance,
    'host.name': hostname(),
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
    ...resource,
    'service.name': serviceName,
  })
}

async function traceExporter(sending: Sending): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    sending.protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return withoutVariables(() => new OTLPTraceExporter(exporterOptions(sending)))
}

/**
 * Makes an exporter, which would read variables of its process by itself: it adds the headers of all signals to those of
 * its own, and so would send a credential to an endpoint that it is not meant for.
 */
export function withoutVariables<E>(make: () => E): E {
  const hidden = Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_EXPORTER_OTLP_'))
  for (const [name] of hidden) delete process.env[name]
  try {
    return make()
  } finally {
    Object.assign(process.env, Object.fromEntries(hidden))
  }
}

/** The same for each signal. */
export function exporterOptions({ url, headers, timeout, compression, ...files }: Sending) {
  const { certificate, clientKey, clientCertificate } = files
  const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path))
  return {
    url,
    headers: { ...headers },
    timeoutMillis: timeout,
    compression: compression as never,
    // One batch at a time, so that a collector that hangs costs no more than that.
    concurrencyLimit: 4,
    httpAgentOptions: {
      keepAlive: true,
      ...(certificate === undefined ? {} : { ca: read(certificate) }),
      ...(clientKey === undefined ? {} : { key: read(clientKey) }),
      ...(clientCertificate === undefined ? {} : { cert: read(clientCertificate) }),
    },
  }
}

function samplerOf({ root, parentBased, ratio }: Sampling, sdk: typeof Sdk): Sampler {
  const own =
    root === 'always_on'
      ? new sdk.AlwaysOnSampler()
      : root === 'always_off'
        ? new sdk.AlwaysOffSampler()
        : new sdk.TraceIdRatioBasedSampler(ratio)
  return parentBased ? new sdk.ParentBasedSampler({ root: own }) : own
}

/** `ExportResultCode.SUCCESS`, whose package is not loaded for its sake. */
const succeeded = 0

/** Most characters of spans that wait, or are under way: with content, a span may have hundreds of thousands. */
const mostCharacters = 128_000_000

/** Tells what becomes of each batch. */
class CountedExporter implements SpanExporter {
  readonly #exporter: SpanExporter
  readonly #delivery: Delivery
  /** Spans that have ended and were not handed over yet. */
  waiting = 0
  /** Characters of these, and of those that are under way. */
  size = 0

  constructor(exporter: SpanExporter, delivery: Delivery) {
    this.#exporter = exporter
    this.#delivery = delivery
  }

  get delivery(): Delivery {
    return this.#delivery
  }

  export(spans: Span[], done: Parameters<SpanExporter['export']>[1]): void {
    const size = spans.reduce((sum, span) => sum + span.size, 0)
    this.waiting -= spans.length
    this.#delivery.handedOver()
    this.#exporter.export(spans, (result) => {
      const { code }: { readonly code: number } = result
      this.size -= size
      if (code === succeeded) this.#delivery.accepted()
      else this.#delivery.lost(spans.length)
      done(result)
    })
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve()
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown()
  }
}

/** Counts what finds no room in the queue, of which the SDK says nothing. */
class CountedQueue implements SpanProcessor {
  readonly #queue: SpanProcessor
  readonly #exporter: CountedExporter
  readonly #most: number

  constructor(queue: SpanProcessor, exporter: CountedExporter, { maxQueueSize }: TelemetryEnvironment['batch']) {
    this.#queue = queue
    this.#exporter = exporter
    this.#most = maxQueueSize
  }

  onStart(): void {
    // The queue takes only what has ended.
  }

  onEnd(span: Span): void {
    const { waiting, size } = this.#exporter
    if (waiting >= this.#most || size + span.size > mostCharacters) return this.#exporter.delivery.lost(1)
    this.#exporter.waiting++
    this.#exporter.size += span.size
    this.#queue.onEnd(span)
  }

  forceFlush(): Promise<void> {
    return this.#queue.forceFlush()
  }

  shutdown(): Promise<void> {
    return this.#queue.shutdown()
  }
}
