/**
 * The parent of an exchange according to its client (W3C Trace Context, sections 3.2 and 3.3): the values of the two
 * headers.
 */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string
}
