import type { Link } from '@opentelemetry/api'
import type { Ingress, ToldCall, ToldExchange, ToldReply, ToldStage, TraceContext } from '../../engine/index.ts'
import { describeCall, nameOf as nameOfCall, providerOf, startOf as startOfCall } from './call-span.ts'
import type { ProviderFacts } from './call-span.ts'
import { describeContent } from './content.ts'
import { errorType } from './error-type.ts'
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
import type { Attributes, Span } from './tracer.ts'

/** What the settings and the environment say of spans. */
export interface SpanSettings {
  readonly stages: boolean
  /** Whether the trace of a client goes on. */
  readonly continues: boolean
  /** Whether trace context is read from clients, and written to providers. */
  readonly propagates: boolean
  /** Most bytes of one attribute with content; absent: there is none. */
  readonly content?: number
  readonly request: FromRequest
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
    const parent = this.#spanOf(running).context
    const began = call.began ?? performance.now()
    const isMcp = call.protocol === 'mcp'
    const attributes = isMcp ? this.#mcp.startOf(call, running.message.mcp) : startOfCall(call, this.#provider(call))
    const name = isMcp ? this.#mcp.nameOf(running.message.mcp) : nameOfCall(call)
    const span = tracer.begin(name, { kind: api.SpanKind.CLIENT, attributes, began, epoch: running.epoch }, parent)
    this.#calls.set(call, { span, running })
    if (!this.#settings.propagates) delete call.trace
    else call.trace = traceContextOf(span, running.tracestate)
    if (this.#settings.content !== undefined && span.isRecorded && !isOfGuard(running)) call.keeps = true
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
    const span = this.#spanOf(running)
    for (const call of running.calls) {
      const calling = this.#calls.get(call)
      if (calling) this.#endCall(call, calling)
    }
    if (span.isRecorded) {
      const { attributes } = span
      this.#endStages(running)
      const last = running.calls.at(-1)
      const isMcp = exchange.protocol === 'mcp'
      describeExchange(attributes, exchange, isMcp ? undefined : last?.provider, this.#settings.scrub)
      if (isRequest(exchange)) Object.assign(attributes, running.request)
      if (isMcp) this.#mcp.describeServer(attributes, exchange, last)
      if (isError(exchange)) span.fail()
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
    const began = performance.now()
    const { epoch } = running
    const span = tracer.begin(name, { kind: spanKind, attributes, began, epoch }, this.#spanOf(running).context)
    return { span, end: () => this.#end(span, running, performance.now()) }
  }

  /**
   * The context with which a job goes on with the trace of an exchange, in any process.
   * @param ingress the request that began the exchange
   */
  contextOf(exchange: string, ingress: Ingress | undefined): TraceContext | undefined {
    const running = this.#running.get(exchange)
    if (running === undefined) return undefined
    this.#spanOf(running)
    const { trace, pipeline } = rootOf(running).message
    if (!this.#settings.langfuse || trace === undefined) return running.message.trace
    const { request, scrub } = this.#settings
    const named = ingress ? requestAttributes(ingress, request, scrub) : running.request
    return { ...trace, ...running.message.trace, labels: labelsOf(pipeline, named) }
  }

  /** Begins the span of an exchange, below what its client says, or what began it. */
  #begin(running: Running, name: string, given: TraceContext | undefined, link?: Link): Span {
    const { message, outer } = running
    const { continues, propagates, request, scrub } = this.#settings
    const { api, tracer } = this.#tracing
    const isClients = isRequest(message)
    // A job goes on with the trace of the request that began it, whatever is read from clients.
    const [trace, linked] = propagates || !isClients ? [given, link] : []
    const goesOn = trace !== undefined && (continues || !isClients)
    const parent = outer ? this.#spanOf(outer).context : goesOn ? spanContextOf(trace, this.#tracing) : undefined
    const isStranger = trace !== undefined && !goesOn
    const links = [...(isStranger ? [linkTo(trace, this.#tracing)] : []), ...(linked ? [linked] : [])]
    const kind = isClients ? api.SpanKind.SERVER : api.SpanKind.INTERNAL
    const attributes = startOfExchange(message, request.door, scrub)
    const { began, epoch } = running
    const span = tracer.begin(name, { kind, attributes, began, epoch, links }, parent)
    running.span = span
    running.tracestate = outer ? outer.tracestate : goesOn ? trace.tracestate : undefined
    // Rows and lines of the log name the trace, wherever it goes.
    message.trace = traceContextOf(span, running.tracestate)
    return span
  }

  /** The span of an exchange. That of a message to an MCP server begins when it is asked for. */
  #spanOf(running: Running): Span {
    if (running.span) return running.span
    const { name, trace, link } = this.#mcp.serverOf(running.message)
    return this.#begin(running, name, trace, link)
  }

  #endCall(call: ToldCall, { span, running }: Calling): void {
    this.#calls.delete(call)
    if (span.isRecorded) {
      const { attributes } = span
      const { content, scrub } = this.#settings
      if (call.protocol === 'mcp') this.#mcp.describeClient(attributes, call)
      else describeCall(attributes, call, running.message, scrub)
      if (attributes[names.errorType] !== undefined) span.fail()
      if (content !== undefined) describeContent(attributes, call, content, scrub)
    }
    const now = performance.now()
    const began = call.began ?? now
    this.#end(span, running, began + (call.duration ?? now - began))
  }

  #endStages(running: Running): void {
    const { api, tracer } = this.#tracing
    for (const { message, began } of running.stages) {
      const { stage, at, attempt, error, duration = 0 } = message
      const attributes: Attributes = { 'sluice.stage': stage, 'sluice.at': at, [names.attempt]: attempt }
      if (error) attributes[names.errorType] = errorType(error.code)
      const { epoch } = running
      const parts = { kind: api.SpanKind.INTERNAL, attributes, began, epoch }
      this.#end(tracer.begin(stage, parts, running.span?.context), running, began + duration)
    }
  }

  /** Ends a span. What Langfuse wants at every span is known when the request is over. */
  #end(span: Span, running: Running, moment: number): void {
    if (this.#settings.langfuse && span.isRecorded) {
      const root = rootOf(running)
      if (!root.isOver) return void root.held.push([span, moment])
      const { pipeline, tags = running.message.tags } = root.message
      Object.assign(span.attributes, langfuseOf(pipeline, tags, root.request))
    }
    span.end(moment)
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

/** Whether a guard asks its model: what it judges is what nobody may read if it denies. */
function isOfGuard({ message, outer }: Running): boolean {
  return outer !== undefined && message.pipeline === 'guard-chat'
}
