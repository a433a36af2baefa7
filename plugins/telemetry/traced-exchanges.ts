import type { Attributes, Context, Link, Span } from '@opentelemetry/api'
import type { Ingress, ToldCall, ToldExchange, ToldReply, ToldStage, TraceContext } from '../../engine/index.ts'
import { describeCall, nameOf as nameOfCall, providerOf, startOf as startOfCall } from './call-span.ts'
import type { ProviderFacts } from './call-span.ts'
import { contentAttributes } from './content.ts'
import { errorOfCall, errorType } from './error-type.ts'
import {
  clean,
  describeExchange,
  isError,
  isRequest,
  labelsOf,
  langfuseOf,
  nameOf as nameOfExchange,
  requestAttributes,
  startOf as startOfExchange,
} from './exchange-span.ts'
import type { FromRequest } from './exchange-span.ts'
import { McpSpans } from './mcp-spans.ts'
import type { Tracing } from './open-tracing.ts'
import { names } from './semantic-conventions.ts'
import { linkTo, spanContextOf, traceContextOf } from './trace-context.ts'

/** What the settings and the environment say of spans. */
export interface SpanSettings {
  readonly stages: boolean
  /** Whether the trace of a client goes on. */
  readonly continues: boolean
  /** Most bytes of one attribute with content; absent: there is none. */
  readonly content?: number
  readonly request: FromRequest
  readonly propagates: boolean
  readonly langfuse: boolean
  readonly providers: ReadonlyMap<string, ProviderFacts>
  /** Redacts secrets. */
  readonly scrub: (text: string) => string
}

/** An exchange under way. */
export interface Running {
  readonly message: ToldExchange
  /** Set when the span begins: for a message to an MCP server, when it was read. */
  span: Span | undefined
  context: Context | undefined
  /** That of the trace which goes on. */
  tracestate: string | undefined
  readonly outer: Running | undefined
  /** When it began, and when Unix time began, in milliseconds of `performance.now()`. */
  readonly began: number
  readonly epoch: number
  /** What a client named by headers. */
  request: Attributes
  readonly calls: ToldCall[]
  isOver: boolean
  readonly stages: { readonly message: ToldStage; readonly began: number }[]
  /** What has ended below it, and when: it waits for what is known of the exchange at its end alone. */
  readonly held: (readonly [span: Span, ended: number])[]
}

/** A span that another room began. */
export interface Below {
  readonly span: Span
  end(): void
}

/** The span of a call, and the exchange that it is part of. */
interface Calling {
  readonly span: Span
  readonly running: Running
}

/** Makes spans of exchanges, of calls and of stages by what the gateway tells of them. */
export class TracedExchanges {
  readonly #tracing: Tracing
  readonly #mcp: McpSpans
  #settings: SpanSettings
  /** Each that begins ends once. A weak map would cost the collector of garbage more than all of this. */
  readonly #begun = new Map<ToldExchange, Running>()
  /** By id. A job has the id of the request that began it, and may begin before that is over. */
  readonly #running = new Map<string, Running>()
  /** Those that a client began and that have not been answered yet, by id: a job is never answered. */
  readonly #asked = new Map<string, Running>()
  readonly #calls = new Map<ToldCall, Calling>()

  constructor(tracing: Tracing, settings: SpanSettings) {
    this.#tracing = tracing
    this.#settings = settings
    this.#mcp = new McpSpans(tracing, (text) => clean(text, this.#settings.scrub))
  }

  /** A configuration went live. */
  follow(settings: SpanSettings): void {
    this.#settings = settings
  }

  /** Nothing is heard any more: what runs now will not be seen to end. */
  forget(): void {
    this.#begun.clear()
    this.#running.clear()
    this.#asked.clear()
    this.#calls.clear()
  }

  /** Makes spans of exchanges of pipelines with a protocol, of those that they begin, and of jobs. */
  begins(message: ToldExchange): void {
    const { id, parent, protocol, transport } = message
    const outer = parent === undefined ? undefined : this.#running.get(parent)
    if (protocol === undefined && outer === undefined && transport !== undefined) return
    const began = performance.now()
    const epoch = outer?.epoch ?? Date.now() - began
    const request = outer?.request ?? message.trace?.labels ?? {}
    const running: Running = {
      message,
      span: undefined,
      context: undefined,
      tracestate: undefined,
      outer,
      began,
      epoch,
      request,
      calls: [],
      isOver: false,
      stages: [],
      held: [],
    }
    this.#begun.set(message, running)
    this.#running.set(id, running)
    if (isRequest(message)) this.#asked.set(id, running)
    if (protocol === 'mcp' && isRequest(message)) return
    this.#begin(running, nameOfExchange(message), message.trace)
  }

  /** An exchange is about to answer: only now its request can be read. */
  replies({ scope, slots: { ingress } }: ToldReply): void {
    const running = this.#asked.get(scope.id)
    if (running === undefined || ingress === undefined) return
    running.request = requestAttributes(ingress, this.#settings.request, this.#settings.scrub)
  }

  calling(call: ToldCall): void {
    const running = this.#running.get(call.exchange)
    if (running === undefined) return
    const { api, tracer } = this.#tracing
    const context = this.#contextOf(running)
    const began = call.began ?? performance.now()
    const isMcp = call.protocol === 'mcp'
    const startTime = timeOf(running, began)
    const attributes = isMcp ? this.#mcp.startOf(call, running.message.mcp) : startOfCall(call, this.#provider(call))
    const name = isMcp ? this.#mcp.nameOf(running.message.mcp) : nameOfCall(call)
    const span = tracer.startSpan(name, { kind: api.SpanKind.CLIENT, startTime, attributes }, context)
    this.#calls.set(call, { span, running })
    if (!this.#settings.propagates) delete call.trace
    else call.trace = traceContextOf(span, running.tracestate)
    if (this.#settings.content !== undefined && span.isRecording()) call.keeps = true
  }

  /** A call is over. What became of its exchange is known soon, unless the call has outlived it. */
  called(call: ToldCall): void {
    const calling = this.#calls.get(call)
    if (calling === undefined) return
    if (calling.running.isOver) this.#endCall(call, calling)
    else calling.running.calls.push(call)
  }

  ran(message: ToldStage): void {
    if (!this.#settings.stages) return
    const running = this.#running.get(message.exchange)
    running?.stages.push({ message, began: performance.now() - (message.duration ?? 0) })
  }

  ends(exchange: ToldExchange): void {
    const running = this.#begun.get(exchange)
    if (running === undefined) return
    this.#begun.delete(exchange)
    running.isOver = true
    if (this.#running.get(exchange.id) === running) this.#running.delete(exchange.id)
    if (isRequest(exchange)) this.#asked.delete(exchange.id)
    this.#contextOf(running)
    const { span } = running
    if (span === undefined) return
    for (const call of running.calls) {
      const calling = this.#calls.get(call)
      if (calling) this.#endCall(call, calling)
    }
    if (span.isRecording()) {
      this.#endStages(running)
      describeExchange(span, exchange, this.#settings.scrub)
      if (isRequest(exchange)) span.setAttributes(running.request)
      if (exchange.protocol === 'mcp') this.#mcp.describeServer(span, exchange, running.calls.at(-1))
      if (isError(exchange)) span.setStatus({ code: this.#tracing.api.SpanStatusCode.ERROR })
    }
    this.#end(span, running, running.began + (exchange.duration ?? 0))
    for (const [below, ended] of running.held.splice(0)) this.#end(below, running, ended)
  }

  /** Begins a span below that of an exchange; undefined: there is none. */
  below(exchange: string, name: string, kind: 'internal' | 'client', attributes: Attributes): Below | undefined {
    const running = this.#running.get(exchange)
    if (running === undefined) return undefined
    const { api, tracer } = this.#tracing
    const spanKind = kind === 'client' ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL
    const context = this.#contextOf(running)
    const span = tracer.startSpan(
      name,
      { kind: spanKind, startTime: timeOf(running, performance.now()), attributes },
      context,
    )
    return { span, end: () => this.#end(span, running, performance.now()) }
  }

  /**
   * The context with which a job goes on with the trace of an exchange, in any process.
   * @param ingress the request that began the exchange
   */
  contextOf(exchange: string, ingress: Ingress | undefined): TraceContext | undefined {
    const running = this.#running.get(exchange)
    if (running === undefined) return undefined
    this.#contextOf(running)
    const { trace, pipeline } = rootOf(running).message
    if (!this.#settings.langfuse || trace === undefined) return running.message.trace
    const { request, scrub } = this.#settings
    const named = ingress ? requestAttributes(ingress, request, scrub) : running.request
    return { ...trace, ...running.message.trace, labels: labelsOf(pipeline, named) }
  }

  /** Begins the span of an exchange, below what its client says, or what began it. */
  #begin(running: Running, name: string, given: TraceContext | undefined, link?: Link): void {
    const { message, outer } = running
    const { continues, propagates, request, scrub } = this.#settings
    const { api, tracer } = this.#tracing
    const isClients = isRequest(message)
    const trace = propagates ? given : undefined
    const goesOn = trace !== undefined && (continues || !isClients)
    const root = api.ROOT_CONTEXT
    const parent = outer
      ? this.#contextOf(outer)
      : goesOn
        ? api.trace.setSpanContext(root, spanContextOf(trace, this.#tracing))
        : root
    const links = [
      ...(trace !== undefined && !goesOn ? [linkTo(trace, this.#tracing)] : []),
      ...(link === undefined ? [] : [link]),
    ]
    const span = tracer.startSpan(
      name,
      {
        kind: isClients ? api.SpanKind.SERVER : api.SpanKind.INTERNAL,
        startTime: timeOf(running, running.began),
        attributes: startOfExchange(message, request.door, scrub),
        ...(links.length > 0 ? { links } : {}),
      },
      parent,
    )
    running.span = span
    running.tracestate = outer ? outer.tracestate : goesOn ? trace.tracestate : undefined
    // Rows and lines of the log name the trace, wherever it goes.
    message.trace = traceContextOf(span, running.tracestate)
    running.context = api.trace.setSpan(root, span)
  }

  /** The context of an exchange. The span of a message to an MCP server begins when it is asked for. */
  #contextOf(running: Running): Context {
    if (running.context === undefined) {
      const { name, trace, link } = this.#mcp.serverOf(running.message)
      this.#begin(running, name, trace, link)
    }
    return running.context as Context
  }

  #endCall(call: ToldCall, { span, running }: Calling): void {
    this.#calls.delete(call)
    if (span.isRecording()) {
      const isMcp = call.protocol === 'mcp'
      if (isMcp) this.#mcp.describeClient(span, call)
      else describeCall(span, call, running.message, this.#settings.scrub)
      if (errorOfCall(call, isMcp ? undefined : running.message) !== undefined)
        span.setStatus({ code: this.#tracing.api.SpanStatusCode.ERROR })
      const { content, scrub } = this.#settings
      if (content !== undefined) span.setAttributes(contentAttributes(call, content, scrub))
    }
    const now = performance.now()
    const began = call.began ?? now
    this.#end(span, running, began + (call.duration ?? now - began))
  }

  #endStages(running: Running): void {
    const { api, tracer } = this.#tracing
    for (const { message, began } of running.stages) {
      const attributes = { 'sluice.stage': message.stage, 'sluice.at': message.at, [names.attempt]: message.attempt }
      const startTime = timeOf(running, began)
      const span = tracer.startSpan(
        message.stage,
        { kind: api.SpanKind.INTERNAL, startTime, attributes },
        running.context,
      )
      if (message.error) span.setAttribute(names.errorType, errorType(message.error.code))
      this.#end(span, running, began + (message.duration ?? 0))
    }
  }

  /** Ends a span. What Langfuse wants at every span is known when the request is over. */
  #end(span: Span, running: Running, moment: number): void {
    const { langfuse } = this.#settings
    const root = rootOf(running)
    if (langfuse && span.isRecording()) {
      if (!root.isOver) return void root.held.push([span, moment])
      const { pipeline, tags = running.message.tags } = root.message
      span.setAttributes(langfuseOf(pipeline, tags, root.request))
    }
    span.end(timeOf(running, moment))
  }

  #provider(call: ToldCall): string {
    return providerOf(call, this.#settings.providers.get(call.provider) ?? {})
  }
}

/** The exchange that began all the others, by whatever way. */
function rootOf(running: Running): Running {
  let root = running
  while (root.outer) root = root.outer
  return root
}

/** A moment of an exchange as OpenTelemetry has it: seconds and nanoseconds of Unix time. */
function timeOf({ epoch }: Running, moment: number): [number, number] {
  const milliseconds = epoch + moment
  const seconds = Math.floor(milliseconds / 1_000)
  return [seconds, Math.round((milliseconds - seconds * 1_000) * 1e6)]
}
