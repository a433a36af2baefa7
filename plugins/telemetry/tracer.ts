import type * as Api from '@opentelemetry/api'
import type { HrTime, Link, SpanContext, SpanStatus } from '@opentelemetry/api'
import type { IdGenerator, ReadableSpan, Sampler, SamplingDecision, SpanProcessor } from '@opentelemetry/sdk-trace'

/** What a span says, by the names of the conventions. */
export type Attributes = Record<string, string | number | boolean | string[]>

/** What all spans of a process have in common. */
export interface Origin {
  readonly resource: ReadableSpan['resource']
  readonly scope: ReadableSpan['instrumentationScope']
  /** Most characters of a value. */
  readonly valueLength: number
  readonly processors: readonly SpanProcessor[]
}

/** How a span begins. Moments are milliseconds of `performance.now()`, and so is when Unix time began. */
export interface Beginning {
  readonly kind: Api.SpanKind
  /** Grows until the span is over. */
  readonly attributes: Attributes
  readonly began: number
  readonly epoch: number
  readonly links?: Link[]
}

const failed: SpanStatus = { code: 2 satisfies Api.SpanStatusCode.ERROR }
const fine: SpanStatus = { code: 0 satisfies Api.SpanStatusCode.UNSET }
/** `SamplingDecision.RECORD_AND_SAMPLED` of the SDK, which is loaded only where there are traces. */
const recordAndSample: SamplingDecision.RECORD_AND_SAMPLED = 2
const noLinks: Link[] = []
const noEvents: ReadableSpan['events'] = []

/**
 * A span under way; once it is over, what exporters read. That of the SDK checks each attribute by a weak set of its
 * own, which took more time, most of it that of the garbage collector, than all else of a trace.
 */
export class Span implements ReadableSpan {
  readonly name: string
  readonly kind: Api.SpanKind
  readonly context: SpanContext
  readonly parentSpanContext?: SpanContext
  readonly attributes: Attributes
  readonly links: Link[]
  readonly #origin: Origin
  readonly #began: number
  readonly #epoch: number
  #over: number | undefined
  #isFailed = false
  /** Characters of its texts, which are most of what it takes; known once it is over. */
  size = 0

  constructor(name: string, parts: Beginning, context: SpanContext, parent: SpanContext | undefined, origin: Origin) {
    this.name = name
    this.kind = parts.kind
    this.context = context
    if (parent) this.parentSpanContext = parent
    this.attributes = parts.attributes
    this.links = parts.links ?? noLinks
    this.#origin = origin
    this.#began = parts.began
    this.#epoch = parts.epoch
  }

  /** Whether anybody will see what is said of it. */
  get isRecorded(): boolean {
    return (this.context.traceFlags & 1) === 1
  }

  fail(): void {
    this.#isFailed = true
  }

  /** Hands it over, once. What is said of it later may be lost. */
  end(moment = performance.now()): void {
    if (this.ended) return
    this.#over = Math.max(moment, this.#began)
    if (!this.isRecorded) return
    if (this.#origin.valueLength < Infinity) shorten(this.attributes, this.#origin.valueLength)
    this.size = sizeOf(this.attributes)
    for (const processor of this.#origin.processors) processor.onEnd(this)
  }

  spanContext(): SpanContext {
    return this.context
  }

  get startTime(): HrTime {
    return timeOf(this.#epoch + this.#began)
  }

  get endTime(): HrTime {
    return timeOf(this.#epoch + (this.#over ?? this.#began))
  }

  get duration(): HrTime {
    return timeOf((this.#over ?? this.#began) - this.#began)
  }

  get ended(): boolean {
    return this.#over !== undefined
  }

  get status(): SpanStatus {
    return this.#isFailed ? failed : fine
  }

  get events(): ReadableSpan['events'] {
    return noEvents
  }

  get resource(): ReadableSpan['resource'] {
    return this.#origin.resource
  }

  get instrumentationScope(): ReadableSpan['instrumentationScope'] {
    return this.#origin.scope
  }

  get droppedAttributesCount(): number {
    return 0
  }

  get droppedEventsCount(): number {
    return 0
  }

  get droppedLinksCount(): number {
    return 0
  }
}

/** Milliseconds as OpenTelemetry has them: seconds and nanoseconds. */
function timeOf(milliseconds: number): HrTime {
  const seconds = Math.floor(milliseconds / 1_000)
  return [seconds, Math.round((milliseconds - seconds * 1_000) * 1e6)]
}

function shorten(attributes: Attributes, most: number): void {
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === 'string') attributes[name] = value.slice(0, most)
    else if (typeof value === 'object') attributes[name] = value.map((text) => text.slice(0, most))
}

function sizeOf(attributes: Attributes): number {
  let size = 0
  for (const name in attributes) {
    const value = attributes[name]
    if (typeof value === 'string') size += value.length
    else if (typeof value === 'object') for (const text of value) size += text.length
  }
  return size
}

/** Begins spans. */
export class Tracer {
  readonly #api: typeof Api
  readonly #sampler: Sampler
  readonly #ids: IdGenerator
  readonly #origin: Origin

  constructor(api: typeof Api, sampler: Sampler, ids: IdGenerator, origin: Origin) {
    this.#api = api
    this.#sampler = sampler
    this.#ids = ids
    this.#origin = origin
  }

  /** @param parent absent: it begins a trace */
  begin(name: string, parts: Beginning, parent?: SpanContext): Span {
    const above = parent && this.#api.isSpanContextValid(parent) ? parent : undefined
    const traceId = above?.traceId ?? this.#ids.generateTraceId()
    const context: SpanContext = {
      traceId,
      spanId: this.#ids.generateSpanId(),
      // Each sampler decides about all spans of one process and trace alike.
      traceFlags: above && above.isRemote !== true ? above.traceFlags : this.#sampled(name, parts, traceId, above),
      ...(above?.traceState === undefined ? {} : { traceState: above.traceState }),
    }
    return new Span(name, parts, context, above, this.#origin)
  }

  #sampled(name: string, { kind, attributes, links }: Beginning, traceId: string, parent: SpanContext | undefined) {
    const { ROOT_CONTEXT, TraceFlags, trace } = this.#api
    const context = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
    const { decision } = this.#sampler.shouldSample(context, traceId, name, kind, attributes, links ?? noLinks)
    return decision === recordAndSample ? TraceFlags.SAMPLED : TraceFlags.NONE
  }
}
