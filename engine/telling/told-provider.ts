import type { Operation } from '../spec/operation.ts'
import type { Dialed } from '../spec/leg.ts'
import type { JsonObject } from '../spec/json.ts'
import type { Answer, Call, Dial, Offer, Provider, ProviderType } from '../spec/open-provider.ts'
import type { Flow, Sink, Source } from '../spec/source.ts'
import type { Scope, TraceContext } from '../spec/scope.ts'
import type { CallFacts } from '../spec/call-facts.ts'
import type { ToldCall } from '../spec/telling.ts'
import { calls, toldError } from './channels.ts'
import { CallUnderWay } from './exchange-calls.ts'
import type { ExchangeCalls } from './exchange-calls.ts'

/** Facts about an open provider. */
export interface Callee {
  readonly name: string
  readonly type: string
  readonly offers: readonly Offer[]
  /** Who is behind it, as telemetry names it. */
  readonly vendor?: string | undefined
}

/** The name in telemetry of who is behind a provider, if its settings name a preset. */
export function vendorOf({ presets = [] }: Pick<ProviderType, 'presets'>, config: JsonObject): string | undefined {
  const preset = presets.find(({ name }) => name === config['preset'])
  return preset?.telemetry ?? preset?.name
}

/** Every part of a provider, so that a new part cannot be forgotten here. */
type Parts = { readonly [K in keyof Required<Provider>]: Provider[K] | undefined }

/** A provider whose calls carry the trace context of their exchange, and are reported to listeners. */
export function toldProvider(provider: Provider, callee: Callee): Provider {
  const send = provider.send?.bind(provider)
  const dial = provider.dial?.bind(provider)
  const parts: Parts = {
    send: send && ((call) => sendTold(send, call, callee)),
    dial: dial && ((asked) => dialTold(dial, asked, callee)),
    answer: provider.answer && neutralParts(provider.answer as Answers, callee),
    models: provider.models?.bind(provider),
    cooling: provider.cooling?.bind(provider),
    close: provider.close?.bind(provider),
  }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined))
}

function sendTold(send: (call: Call) => Promise<Answer>, call: Call, callee: Callee): Promise<Answer> {
  const { scope, operation, protocol, model, record, stream: streamed, trace = scope.trace } = call
  if (!isHeard(scope)) return send(trace === call.trace ? call : { ...call, ...(trace ? { trace } : {}) })
  const asked: Facts = { operation, protocol, model, streamed }
  if (record !== undefined) asked.record = record
  if (trace !== undefined) asked.trace = trace
  const made = begin(callee, scope, asked)
  const own = made.message.trace
  return sent(() => send(own === call.trace ? call : { ...call, ...(own && { trace: own }) }), made)
}

/** Tells of a call that `send` makes, with the trace context that subscribers have left. */
export function tellCall(
  callee: Pick<Callee, 'name' | 'type' | 'vendor'>,
  scope: Scope,
  facts: Facts,
  send: (trace: TraceContext | undefined) => Promise<Answer>,
): Promise<Answer> {
  if (!isHeard(scope)) return send(facts.trace)
  const call = begin(callee, scope, facts)
  return sent(() => send(call.message.trace), call)
}

/** The answer to a call. What is thrown at once is told, too. */
function sent(send: () => Promise<Answer>, call: CallUnderWay): Promise<Answer> {
  try {
    return new ToldAnswer(send(), call)
  } catch (thrown) {
    call.over(toldError(thrown))
    throw thrown
  }
}

async function dialTold(dial: (dial: Dial) => Promise<Dialed>, asked: Dial, callee: Callee): Promise<Dialed> {
  const { scope, operation, protocol, model, record, trace = scope.trace } = asked
  if (!isHeard(scope)) return dial(trace === asked.trace ? asked : { ...asked, ...(trace ? { trace } : {}) })
  const call = begin(callee, scope, {
    operation,
    protocol,
    model,
    lane: 'bytes',
    streamed: true,
    ...(record === undefined ? {} : { record }),
    ...(trace ? { trace } : {}),
  })
  const { message } = call
  const dialed = await dial({ ...asked, ...(message.trace ? { trace: message.trace } : {}) }).catch(
    (error: unknown) => {
      call.over(toldError(error))
      throw error
    },
  )
  message.firstByte = performance.now() - call.began
  return {
    protocol: dialed.protocol,
    attach: (sink) =>
      dialed.attach({
        message: (bytes, binary) => sink.message(bytes, binary),
        drained: () => sink.drained(),
        closed(...how) {
          call.over()
          return sink.closed(...how)
        },
      }),
  }
}

type Asked = Pick<ToldCall, 'operation' | 'protocol' | 'model' | 'record' | 'trace'>
type Facts = CallFacts & { -readonly [K in keyof Asked]: Asked[K] }

/** The calls of the exchange of a scope, if its end will tell of them. */
function callsOf(scope: Scope): ExchangeCalls | undefined {
  return (scope as { readonly calls?: ExchangeCalls }).calls
}

function isHeard(scope: Scope): boolean {
  return calls.heard || callsOf(scope) !== undefined
}

function begin(
  { name, type, vendor }: Pick<Callee, 'name' | 'type' | 'vendor'>,
  scope: Scope,
  asked: Facts,
): CallUnderWay {
  // With room for what is known later: each further field would move the others.
  const message = {
    exchange: scope.id,
    attempt: scope.attempt,
    provider: name,
    type,
    vendor,
    began: undefined,
    firstByte: undefined,
    duration: undefined,
    streamed: undefined,
    lane: undefined,
    asked: undefined,
    metered: undefined,
    cost: undefined,
    server: undefined,
    operation: undefined,
    model: undefined,
    record: undefined,
  } as object as ToldCall
  Object.assign(message, asked)
  const call = new CallUnderWay(message, callsOf(scope))
  // A reader that never opens the answer does not report it.
  scope.onEnd?.(() => call.cancel())
  return call
}

/**
 * The answer to a call, as its reader sees it. In place of promises, because there is one per request: `then` is that of
 * the provider's promise.
 */
class ToldAnswer implements Promise<Answer> {
  readonly [Symbol.toStringTag] = 'Promise'
  readonly #sent: Promise<Answer>
  readonly #call: CallUnderWay

  constructor(sent: Promise<Answer>, call: CallUnderWay) {
    this.#sent = sent
    this.#call = call
  }

  then<A = Answer, B = never>(
    answered?: ((answer: Answer) => A | PromiseLike<A>) | null,
    failed?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#sent.then(
      (answer) => {
        const told = this.#begun(answer)
        return answered ? answered(told) : (told as A)
      },
      (error: unknown) => {
        this.#call.over(toldError(error))
        if (failed) return failed(error)
        throw error
      },
    )
  }

  catch<B = never>(failed?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Answer | B> {
    return this.then(undefined, failed)
  }

  finally(settled?: (() => void) | null): Promise<Answer> {
    return this.then((answer) => answer).finally(settled)
  }

  #begun({ status, headers, body }: Answer): Answer {
    const { message, began } = this.#call
    message.status = status
    message.firstByte ??= performance.now() - began
    return { status, headers, body: new ToldBody(body, this.#call) }
  }
}

/** The body of an answer, whose last byte ends the call: source, sink and flow in one object. */
class ToldBody implements Source, Sink, Flow {
  readonly #body: Source
  readonly #call: CallUnderWay
  #sink: Sink | undefined
  #flow: Flow | undefined

  constructor(body: Source, call: CallUnderWay) {
    this.#body = body
    this.#call = call
  }

  open(sink: Sink): Flow {
    this.#sink = sink
    this.#flow = this.#body.open(this)
    return this
  }

  data(chunk: Uint8Array): void {
    this.#sink?.data(chunk)
  }

  end(): void {
    this.#call.over()
    this.#sink?.end()
  }

  fail(error: Error): void {
    this.#call.over(toldError(error))
    this.#sink?.fail(error)
  }

  pause(): void {
    this.#flow?.pause()
  }

  resume(): void {
    this.#flow?.resume()
  }

  cancel(reason: Error): void {
    this.#call.cancel()
    this.#flow?.cancel(reason)
  }
}

type Events = AsyncIterable<{ readonly type?: string }>
type Answers = Readonly<Record<string, (request: unknown, model: string, scope: Scope) => Events | Promise<unknown>>>

/** The parts that answer in neutral form, by offered operation. */
function neutralParts(answers: Answers, callee: Callee): NonNullable<Provider['answer']> {
  const offered = callee.offers.filter(({ protocol }) => protocol === undefined).map(({ operation }) => operation)
  const told = (operation: Operation) => (request: unknown, model: string, scope: Scope) => {
    const respond = () => answers[operation]?.(request, model, scope) as ReturnType<Answers[string]>
    return isHeard(scope) ? respondTold(respond, begin(callee, scope, { operation, model })) : respond()
  }
  const parts = offered.filter((operation) => operation in answers).map((operation) => [operation, told(operation)])
  return Object.fromEntries(parts) as NonNullable<Provider['answer']>
}

function respondTold(respond: () => Events | Promise<unknown>, call: CallUnderWay): Events | Promise<unknown> {
  const failed = (error: unknown) => {
    call.over(toldError(error))
    throw error
  }
  let answer: Events | Promise<unknown>
  try {
    answer = respond()
  } catch (thrown) {
    return failed(thrown)
  }
  if (Symbol.asyncIterator in answer) return toldEvents(answer, call)
  return answer.then((reply) => {
    call.over()
    return reply
  }, failed)
}

async function* toldEvents(events: Events, call: CallUnderWay): Events {
  try {
    for await (const event of events) {
      call.message.firstByte ??= performance.now() - call.began
      if (event.type === 'failure') call.over({ code: 'upstream_error' })
      yield event
    }
    call.over()
  } catch (thrown) {
    call.over(toldError(thrown))
    throw thrown
  } finally {
    call.cancel()
  }
}
