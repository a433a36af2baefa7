import type { Link, SpanContext } from '@opentelemetry/api'
import type { TraceContext } from '../../engine/index.ts'
import type { Tracing } from './open-tracing.ts'
import type { Span } from './tracer.ts'

/** The span that a validated trace context names. */
export function spanContextOf(
  { traceparent, tracestate }: TraceContext,
  { api }: Pick<Tracing, 'api'>,
  isRemote = true,
): SpanContext {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  const traceFlags = Number.parseInt(flags, 16) & api.TraceFlags.SAMPLED
  return {
    traceId,
    spanId,
    traceFlags,
    isRemote,
    ...(tracestate === undefined ? {} : { traceState: api.createTraceState(tracestate) }),
  }
}

/** The trace context below a span. `tracestate` passes as it came. */
export function traceContextOf(span: Span, tracestate: string | undefined): TraceContext {
  const { traceId, spanId, traceFlags } = span.context
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & 1}`
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

export function linkTo(trace: TraceContext, tracing: Pick<Tracing, 'api'>): Link {
  return { context: spanContextOf(trace, tracing) }
}
