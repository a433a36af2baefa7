import type { AnyClientCodec } from '../spec/codec.ts'
import type { Failure } from '../spec/error.ts'
import { GatewayError, asGatewayError, scrubbedFailure } from '../spec/error.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import type { Ingress, Outcome, Reply } from '../spec/slots.ts'
import type { End } from '../spec/stage.ts'
import { ExchangeCalls } from '../telling/exchange-calls.ts'
import { calls, exchanges, toldReply } from '../telling/channels.ts'
import { traced, untraced } from '../telling/log.ts'
import { finish } from '../pipeline/finish.ts'
import type { Bag } from '../pipeline/bag.ts'
import { Later } from '../pipeline/later.ts'
import type { Eventual } from '../pipeline/later.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'
import { runUnreached } from '../pipeline/unreached.ts'
import type { Sent } from './reply.ts'
import type { ExchangeScope } from './scope.ts'
import { tellExchange } from './told-exchange.ts'
import { traceContext } from '../telling/trace-context.ts'

/**
 * Sends a reply: over HTTP, as messages of a socket, or not at all.
 * @param error that the reply tells
 */
export type Send = (reply: Reply, headers: Record<string, string>, error?: GatewayError) => Eventual<Sent>

/** For a pipeline without a reply, to which no route leads. */
export const noReply: Reply = { status: 204, headers: {}, body: { kind: 'none' } }

/** For an error that could not be printed. */
const failedReply: Reply = { status: 500, headers: {}, body: { kind: 'none' } }

/** How an exchange ended, and what failed in its `finally`. */
export interface Ended {
  readonly outcome: Outcome
  readonly failures: readonly GatewayError[]
}

/**
 * Runs one exchange through one pipeline: runs its stages and sends the reply or the error. After the last byte was
 * sent or the client disconnected, it settles the stages and runs `finally` exactly once.
 * @param slots filled at the start: the `ingress` of a request, or other slots that the pipeline takes
 */
export function runExchange(
  pipeline: CompiledPipeline,
  codec: AnyClientCodec | undefined,
  slots: Bag,
  scope: ExchangeScope,
  send: Send,
): Eventual<Ended> {
  const { ingress } = slots
  if (ingress?.headers['traceparent'] !== undefined) scope.trace ??= traceContext(ingress.headers)
  const exchange = new Exchange(pipeline, codec, slots, scope, send)
  const isHeard = exchanges.heard
  if (isHeard || calls.heard) scope.calls = new ExchangeCalls()
  if (isHeard) exchange.over = tellExchange(pipeline, slots, scope)
  traced(scope)
  return exchange.run()
}

/** A single object is what the exchange runs with and its end, because one is created per request. */
class Exchange extends Later<Ended> {
  readonly pipeline: CompiledPipeline
  readonly codec: AnyClientCodec | undefined
  readonly slots: Bag
  readonly scope: ExchangeScope
  readonly send: Send
  /** Reports the end; absent: nobody listens. */
  over: ReturnType<typeof tellExchange> | undefined

  constructor(
    pipeline: CompiledPipeline,
    codec: AnyClientCodec | undefined,
    slots: Bag,
    scope: ExchangeScope,
    send: Send,
  ) {
    super()
    this.pipeline = pipeline
    this.codec = codec
    this.slots = slots
    this.scope = scope
    this.send = send
  }

  run(): this {
    this.scope.begin()
    try {
      const running = this.pipeline.run(this.slots, this.scope)
      if (running === undefined) this.#answer()
      else
        running.then(
          () => this.#answer(),
          (thrown) => this.#refuse(thrown),
        )
    } catch (thrown) {
      this.#refuse(thrown)
    }
    return this
  }

  override end(value: Ended): void {
    untraced(this.scope)
    this.over?.(value.outcome)
    super.end(value)
  }

  override fail(error: unknown): void {
    untraced(this.scope)
    this.scope.calls?.end(this.slots)
    this.over?.(undefined, error)
    super.fail(error)
  }

  #answer(): void {
    const { pipeline, codec, slots, scope } = this
    try {
      const reply = slots.reply ?? noReply
      this.send(toldReply(scope, slots, reply), commonHeaders(reply, pipeline, codec, scope)).then(
        (sent) => ended(this, { reply, sent }),
        (thrown) => this.#refuse(thrown),
      )
    } catch (thrown) {
      this.#refuse(thrown)
    }
  }

  #refuse(thrown: unknown): void {
    void refused(this, thrown).then(
      (exchanged) => ended(this, exchanged),
      (error: unknown) => this.fail(error),
    )
  }
}

/** What was sent to the client. */
interface Exchanged {
  readonly reply: Reply
  readonly sent: Sent
  /** Why the exchange failed. */
  readonly error?: GatewayError
  /** What was thrown when the error was sent. */
  readonly unsent?: { readonly thrown: unknown }
}

/** Sends the error of an exchange. */
async function refused({ pipeline, codec, slots, scope, send }: Exchange, thrown: unknown): Promise<Exchanged> {
  const error = withPlace(asGatewayError(thrown), slots.ingress)
  let reply = failedReply
  try {
    tell(pipeline, error, scope.id)
    await runUnreached(pipeline, slots, scope)
    reply = errorReply(error, { codec, id: scope.id, scrub: pipeline.scrub, asked: slots.request?.sent })
    const sent = await send(toldReply(scope, slots, reply), commonHeaders(reply, pipeline, codec, scope), error)
    return { reply, sent, error }
  } catch (again) {
    // The caller must learn of this error, but only after the exchange has ended.
    return { reply, sent: { bytes: 0, firstByte: undefined, left: false }, error, unsent: { thrown: again } }
  }
}

const nowhere = new GatewayError('not_found').message

/** An error of a stage that found nothing, and did not say where: it names the method, and the path as it was asked for. */
function withPlace(error: GatewayError, ingress: Ingress | undefined): GatewayError {
  if (error.code !== 'not_found' || error.message !== nowhere || ingress === undefined) return error
  const { method, path, params } = ingress
  const asked = path.replace(/:(\w+)/g, (word, name: string) => params[name] ?? word)
  const placed = new GatewayError('not_found', { method, path: asked.slice(0, 256) }, { cause: error })
  if (error.at !== undefined) placed.at = error.at
  return placed
}

/** Releases what the exchange holds, and runs what follows it. */
function ended(exchange: Exchange, { reply, sent, error, unsent }: Exchanged): void {
  const { pipeline, slots, scope } = exchange
  try {
    scope.end((thrown) =>
      pipeline.log.error({ err: thrown, id: scope.id }, 'a resource of the exchange could not be released'),
    )
    const wrong = error ?? (sent.broken && asGatewayError(sent.broken)) ?? failureOf(slots, pipeline)
    const outcome = (slots.outcome = outcomeOf(reply, sent, wrong, scope, pipeline))
    const close = (failures: Ended['failures']) => {
      scope.calls?.end(slots)
      if (unsent) exchange.fail(unsent.thrown)
      else exchange.end({ outcome, failures })
    }
    const finished = finish(pipeline, slots, scope, wrong)
    if (finished instanceof Promise) finished.then(close, (thrown: unknown) => exchange.fail(thrown))
    else close(finished)
  } catch (thrown) {
    exchange.fail(thrown)
  }
}

/** Logs what a client must not see: the cause of an internal error, or the reason a provider gave. */
function tell({ log }: CompiledPipeline, error: GatewayError, id: string): void {
  const { code, at, cause } = error
  if (code === 'internal_error') log.error({ err: cause ?? error, id, at }, 'an exchange failed')
  else if (cause !== undefined && (code.startsWith('upstream_') || code === 'overloaded'))
    log.warn(
      { code, id, at, reason: (cause as { readonly message?: unknown } | undefined)?.message },
      'a provider failed',
    )
}

/** What printing an error takes. */
export interface ErrorContext {
  /** The client's protocol; without it the error is printed in the plain form. */
  readonly codec: AnyClientCodec | undefined
  /** The exchange id. */
  readonly id: string
  /** Redacts secrets in a text. */
  readonly scrub: (text: string) => string
  /** The body of the request, if it was read. */
  readonly asked?: JsonObject | undefined
}

/** The error as its client receives it. Every error that leaves the gateway passes here, and is redacted here. */
export function errorReply(error: GatewayError, { codec, id, scrub, asked }: ErrorContext): Reply {
  const { facts } = error
  const failure = scrubbedFailure(error.failure, scrub)
  const headers: Record<string, string> = {}
  if (failure.retryAfter !== undefined) headers['retry-after'] = String(failure.retryAfter)
  if (failure.shouldRetry !== undefined) headers['x-should-retry'] = String(failure.shouldRetry)
  const { allow, upgrade, authenticate } = facts
  if (typeof allow === 'string') headers.allow = allow
  if (typeof upgrade === 'string') headers.upgrade = upgrade
  if (typeof authenticate === 'string') headers['www-authenticate'] = authenticate
  const printed = codec ? codec.error.print(failure, id, asked) : printFailure(failure)
  const value =
    failure.errors && isObject(printed) ? { ...printed, errors: failure.errors.map((one) => ({ ...one })) } : printed
  return { status: codec?.error.status?.(failure) ?? failure.status, headers, body: { kind: 'json', value } }
}

function commonHeaders(
  reply: Reply,
  { scrub }: CompiledPipeline,
  codec: AnyClientCodec | undefined,
  scope: ExchangeScope,
): Record<string, string> {
  const headers: Record<string, string> = { ...scope.headers }
  for (const name in reply.headers) {
    const value = scrub(reply.headers[name] as string)
    headers[name] = unprintable.test(value) ? value.replace(unprintables, '?') : value
  }
  headers['x-request-id'] = scope.id
  if (codec?.idHeader !== undefined) headers[codec.idHeader] = scope.id
  headers['server-timing'] = serverTiming(scope)
  return headers
}

/** Characters that no header may hold: they would end the header, or Node would reject it. */
const unprintable = /[^\t\x20-\x7e\x80-\xff]/
const unprintables = new RegExp(unprintable, 'g')

/** `Server-Timing` (W3C) of what took at least a tenth of a millisecond: each run of a stage, and other times. */
function serverTiming(scope: ExchangeScope): string {
  let text = ''
  for (const { stage, milliseconds } of scope.laps)
    if (milliseconds >= 0.1) text += `${stage.name};dur=${milliseconds.toFixed(1)}, `
  for (const { name, milliseconds } of scope.times)
    if (milliseconds >= 0.1) text += `${name};dur=${milliseconds.toFixed(1)}, `
  return `${text}total;dur=${scope.elapsed().toFixed(1)}`
}

/** The failure of an exchange. */
type Wrong = NonNullable<End['error']> & { readonly at?: string }

function outcomeOf(
  reply: Reply,
  sent: Sent,
  wrong: Wrong | undefined,
  scope: ExchangeScope,
  { scrub }: CompiledPipeline,
): Outcome {
  const outcome: Writable<Outcome> = {
    status: reply.status,
    result: sent.left || wrong?.code === 'client_closed' ? 'client_closed' : 'completed',
    duration: scope.elapsed(),
    bytes: sent.bytes,
  }
  if (wrong) outcome.error = toldOf(wrong, scrub)
  if (wrong && outcome.result === 'completed') outcome.result = 'failed'
  if (sent.firstByte !== undefined) outcome.firstByte = sent.firstByte - scope.started
  return outcome
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** The error of an outcome. */
export function toldOf({ code, message, at }: Wrong, scrub: CompiledPipeline['scrub']): NonNullable<Outcome['error']> {
  const told = { code: scrub(code), message: scrub(message) }
  return at === undefined ? told : { ...told, at }
}

/** The failure reported inside a reply. An answer that cannot be read must not prevent the exchange from ending. */
function failureOf({ measurement }: Bag, { log }: CompiledPipeline): Wrong | undefined {
  try {
    const failure = measurement?.read().failure
    if (failure === undefined) return undefined
    return { code: failure.code ?? 'upstream_error', message: failure.message, tags: [String(failure.status)] }
  } catch (error) {
    log.warn({ err: error }, 'the answer could not be checked for a failure')
    return undefined
  }
}

/** The error body of routes that belong to no protocol (`{ error: { message, type, param, code } }`). */
function printFailure({ message, type, param, code }: Failure): Json {
  return { error: { message, type, param, code } }
}
