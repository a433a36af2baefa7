import { performance } from 'node:perf_hooks'
import { GatewayError, defineStage } from '../../engine/index.ts'
import {
  FrameDecoder,
  answerHold,
  answering,
  collecting,
  duration,
  durationSchema,
  eventRoom,
  isObject,
  isTooShort,
  parseJson,
  parseVerbatim,
  peek,
  through,
  tooShort,
} from '../../engine/kit.ts'
import type {
  Answer,
  AnswerContent,
  AnyUpstreamCodec,
  Call,
  Candidate,
  Envelope,
  Frame,
  Host,
  JsonObject,
  Metered,
  Records,
  Scope,
  Services,
  Sink,
  Source,
  TypedRecords,
  Upstream,
  UpstreamAnswer,
} from '../../engine/index.ts'
import { AwsEventStream } from './aws-event-stream.ts'
import { JsonLines } from './json-lines.ts'
import { tellRequest } from './told-call.ts'
import { askNeutral } from './neutral.ts'
import { forgotten, isRefused, lacking, refusal, refusedAnswer, refusedFrame } from './refusal.ts'

const limit = <const N extends string, const D extends string>(name: N, fallback: D, description: string) =>
  ({ ...durationSchema, default: fallback, 'x-setting': `resilience.timeouts.${name}`, description }) as const

/** Names a guard that judges one of these sides, if there is one: it must not be passed over. */
const guarding =
  (...sides: readonly Records['guard']['side'][number][]) =>
  (records: TypedRecords): string | undefined => {
    const guard = records.of('guard').find(({ side }) => side.some((one) => sides.includes(one)))
    return guard && `the guard "${guard.name}"`
  }

/** Names a model with guards of its own for requests, if there is one: they run where the model is known. */
const guardingOfModel = (records: TypedRecords): string | undefined => {
  const judging = new Set(
    records
      .of('guard')
      .filter(({ side }) => side.includes('input') || side.includes('tool_results'))
      .map(({ name }) => name),
  )
  const model = records.of('model').find(({ guards = [] }) => guards.some((name) => judging.has(name)))
  return model && `the guards of the model "${model.name}"`
}

/** Calls the provider. Gives its answer when the first event has arrived: until then another provider may be tried. */
export default defineStage({
  name: 'call',
  summary: 'Call the provider and wait for the beginning of its answer.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      first_byte: limit('first_byte', '10m', 'Timeout for the beginning of the answer.'),
      idle: limit('idle', '10m', 'Longest silence within an answer.'),
      total: limit('total', '1h', 'Timeout for the whole answer.'),
      limit: { type: 'integer', minimum: 1, default: 67_108_864, description: 'Most bytes of a whole answer.' },
      once: {
        type: 'boolean',
        default: false,
        description: 'Whether only one of several keys of the provider is tried.',
      },
    },
  } as const,
  needs: ['request', 'model', 'upstream'],
  provides: ['answer', 'upstream'],
  owes: [
    { duty: 'apply-policy', at: 'before', while: 'parameters' },
    { duty: 'guard-input', at: 'before', unless: guarding('input', 'tool_results') },
    { duty: 'guard-model', at: 'before', of: 'model', unless: guardingOfModel },
    { duty: 'guard-output', at: 'after', unless: guarding('output', 'tool_calls') },
    { duty: 'limit', at: 'before' },
    { duty: 'allow', at: 'before', of: 'candidates' },
    { duty: 'reserve', at: 'before', of: 'candidates' },
    { duty: 'breaker', at: 'before', of: 'model' },
    { duty: 'answered', at: 'after', with: 'breaker' },
    { duty: 'price', at: 'finally' },
    { duty: 'charge', at: 'finally' },
    { duty: 'log', at: 'finally' },
  ],
  // A whole answer is complete only at its end. Longer than `total`, whose end is the provider's failure, not the stage's.
  timeout: '61m',
  uses: ['prices'],
  check(config, _known, report) {
    for (const field of ['first_byte', 'idle', 'total'] as const)
      if (isTooShort(config[field])) report([field], tooShort, 'timeout', 'warning')
  },
  build: (config, host, { prices }) => {
    const total = duration(config.total)
    const usual: Call['timeouts'] = { firstByte: duration(config.first_byte), idle: duration(config.idle), total }
    // No client waits, and a whole answer shows no progress before its end.
    const patient: Call['timeouts'] = { firstByte: total, idle: total, total }
    const { limit, once } = config
    const settings: Settings = { host, prices, limit, once }
    return ({ request, model, upstream }, scope) =>
      new Promise((resolve, reject) => {
        const timeouts = request.background ? patient : usual
        new Calling(settings, request, model, scope, timeouts, resolve, reject).start(upstream)
      })
  },
})

/** What all calls of one stage have in common. */
interface Settings {
  readonly host: Host
  readonly prices: Services['prices']
  /** Most bytes of a whole answer. */
  readonly limit: number
  readonly once: boolean
}

/**
 * The call of one exchange: one object in place of closures, because there is one per request. Nobody hears of what a
 * callback throws, so each of them ends in `fail`.
 */
class Calling implements Reading {
  readonly settings: Settings
  readonly request: Envelope
  readonly model: Candidate
  readonly scope: Scope
  readonly timeouts: Call['timeouts']
  readonly #resolve: (given: { upstream: Upstream; answer: UpstreamAnswer }) => void
  readonly #reject: (error: unknown) => void
  readonly #started = performance.now()
  readonly #free: () => void
  /** What is asked. */
  #upstream: Upstream | undefined
  #isAgain = false
  #codec: AnyUpstreamCodec | undefined
  #hold: ReturnType<typeof answerHold> | undefined
  #type = ''

  constructor(
    settings: Settings,
    request: Envelope,
    model: Candidate,
    scope: Scope,
    timeouts: Call['timeouts'],
    resolve: (given: { upstream: Upstream; answer: UpstreamAnswer }) => void,
    reject: (error: unknown) => void,
  ) {
    this.settings = settings
    this.request = request
    this.model = model
    this.scope = scope
    this.timeouts = timeouts
    this.#resolve = resolve
    this.#reject = reject
    this.#free = settings.prices.asks(scope)
  }

  get codec(): AnyUpstreamCodec {
    return this.#codec as AnyUpstreamCodec
  }

  get host(): Host {
    return this.settings.host
  }

  get translated(): boolean {
    return this.#upstream?.same !== true
  }

  used(reported: Metered): void {
    this.settings.prices.addFailed(this.scope, this.model.model.pricing, reported)
  }

  start(upstream: Upstream): void {
    const { request, model, scope, timeouts } = this
    const { protocol } = model.offer
    if (protocol !== undefined) {
      this.#codec = this.host.upstreamCodec(protocol)
      return this.#ask(upstream)
    }
    this.#upstream = upstream
    askNeutral(request, model, scope, timeouts).then(
      (content) => this.give(content),
      (error: unknown) => this.#refuse(error),
    )
    tellRequest(scope, request, upstream, this.host)
  }

  #ask(upstream: Upstream): void {
    this.#upstream = upstream
    try {
      ask(upstream, this).then(
        (answer) => {
          try {
            begun(answer, this)
          } catch (error) {
            this.fail(error)
          }
        },
        (error: unknown) => this.fail(error),
      )
    } catch (error) {
      this.fail(error)
    }
  }

  give(content: AnswerContent): void {
    this.#over()
    this.#resolve({ upstream: this.#upstream as Upstream, answer: answering(this.request.operation, content) })
  }

  /** Reads an answer to its end. */
  collect({ body }: Answer, type: string): void {
    this.#type = type
    this.#hold = answerHold(this.host, this.scope)
    collecting(body, this.settings.limit, this.#hold, this)
  }

  end(bytes: Buffer): void {
    let content: AnswerContent
    try {
      content = wholeContent(bytes, this.#type, this.model, this)
    } catch (error) {
      this.#hold?.release()
      return this.fail(error)
    }
    this.give(content)
  }

  fail(error: unknown): void {
    let failure = error
    if (!this.#isAgain)
      try {
        this.#isAgain = true
        const other = this.#otherThan(this.#upstream as Upstream, error)
        if (other) return this.#ask(other)
      } catch (thrown) {
        failure = thrown
      }
    this.#refuse(failure)
  }

  /** What may be asked in place of what has failed. */
  #otherThan(upstream: Upstream, error: unknown): Upstream | undefined {
    const whole = forgotten(error) ? upstream.whole?.() : undefined
    if (whole) this.scope.note('conversation', 'lost by the provider')
    return whole ?? without(upstream, error)
  }

  #refuse(error: unknown): void {
    try {
      this.#over()
      if (isRefused(error)) this.#free()
      this.#reject(lacking(error, this.request) ? this.request.missing : error)
    } catch (thrown) {
      this.#reject(thrown)
    }
  }

  #over(): void {
    this.scope.time('upstream', performance.now() - this.#started)
  }
}

/** The request without what the gateway has added to it, if that is what the provider refused. */
function without({ added }: Upstream, error: unknown): Upstream | undefined {
  return error instanceof GatewayError && added?.refused(error.failure) ? added.without() : undefined
}

function ask(upstream: Upstream, calling: Calling): Promise<Answer> {
  const { codec, request, timeouts, scope, settings } = calling
  const { provider, model } = calling.model
  if (!provider.provider.send || !upstream.body)
    throw new Error(`provider "${provider.name}" offers ${codec.protocol} and cannot send`)
  const call = {
    operation: request.operation,
    protocol: codec.protocol,
    clientProtocol: request.protocol,
    body: upstream.body,
    contentType: upstream.contentType ?? 'application/json',
    stream: request.stream,
    model: model.upstream_model,
    publicName: model.name,
    record: model.pattern ?? model.name,
    timeouts,
    scope,
    once: settings.once,
  }
  const own = codec.protocol === request.protocol
  const answering = provider.provider.send(own ? Object.assign(call, { clientHeaders: request.headers }) : call)
  tellRequest(scope, request, upstream, settings.host)
  return answering
}

interface Reading {
  readonly codec: AnyUpstreamCodec
  readonly host: Host
  readonly scope: Scope
  /** Whether the answer goes to a client of another protocol. */
  readonly translated: boolean
  /** Takes what the provider reported to have used for an answer that is an error. */
  used(reported: Metered): void
}

/** Reads an answer by its media type; a stream, until enough bytes have arrived to be certain. */
function begun(answer: Answer, calling: Calling): void {
  const { codec, model } = calling
  const given = (content: AnswerContent) => calling.give(content)
  const failed = (error: unknown) => calling.fail(error)
  if (answer.status >= 400) return void refusal(answer, model, calling).then(failed, failed)
  const type = answer.headers['content-type'] ?? ''
  const media = type.toLowerCase()
  const json = media.startsWith('application/json')
  // A protocol without events and failing frames has no streams. If one arrives anyway, it is parsed as a whole answer.
  if (codec.failed || codec.events) {
    const source = framed(answer.body, media, calling)
    if (source) return void events(source, model.model.name, calling).then(given, failed)
  }
  if (codec.answers === 'bytes' && !json) {
    const bytes = ({ source }: { readonly source: Source }): AnswerContent => ({
      kind: 'bytes',
      source,
      type: type === '' ? 'application/octet-stream' : type,
    })
    return void peek(answer.body, () => true).then((peeked) => given(bytes(peeked)), failed)
  }
  calling.collect(answer, type)
}

function wholeContent(bytes: Buffer, type: string, candidate: Candidate, reading: Reading): AnswerContent {
  const json = type.toLowerCase().startsWith('application/json')
  // A transcript may be plain text or subtitles; only the client knows whether that is right.
  if (reading.codec.answers === 'text' && !json) return { kind: 'whole', bytes, body: null, type: type || 'text/plain' }
  // Official clients do not parse JSON with another media type.
  return wholeAnswer(bytes, json ? type : 'application/json', candidate, reading)
}

function wholeAnswer(bytes: Buffer, type: string, { model }: Candidate, reading: Reading): AnswerContent {
  const { codec, translated } = reading
  const body = wholeBody(bytes, model.name, translated ? codec.reply?.verbatim : undefined)
  const failing = refusedAnswer(bytes, body, model.name, reading)
  if (failing) throw failing
  return { kind: 'whole', bytes, body, type }
}

/** The bytes of a stream as server-sent events, for any framing of the codec; undefined for another media type. */
function framed(source: Source, media: string, { codec, host, scope }: Reading): Source | undefined {
  const { framing = 'sse' } = codec
  switch (framing) {
    case 'sse':
      return media.startsWith('text/event-stream') ? source : undefined
    case 'aws-event-stream':
      return media.startsWith('application/vnd.amazon.eventstream')
        ? through(source, new AwsEventStream(eventRoom(host, scope)))
        : undefined
    case 'ndjson':
      return jsonLines.some((type) => media.startsWith(type))
        ? through(source, new JsonLines(eventRoom(host, scope)))
        : undefined
  }
}

/** Media types of lines of JSON: none is registered. */
const jsonLines = ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/x-jsonlines']

async function events(stream: Source, model: string, reading: Reading): Promise<AnswerContent> {
  const decoder = new FrameDecoder()
  let first: Frame | undefined
  let size = 0
  /** The first frame is larger than any failure that would be parsed, so it is none. */
  let large = false
  const { source } = await peek(stream, (chunk) => {
    size += chunk.length
    first ??= firstFrame(decoder, chunk)
    return first !== undefined || (large = size > firstLimit)
  })
  if (large) return { kind: 'events', source }
  first ??= decoder.end()[0]
  const wrong = first && first.data !== lastWord ? refusedFrame(first, model, reading) : empty(model)
  if (!wrong) return { kind: 'events', source }
  // The rest of the answer is not read.
  source.open(nobody).cancel(wrong)
  throw wrong
}

/** The marker that ends the streams of most protocols. A stream of only this marker has no answer. */
const lastWord = '[DONE]'
const nobody: Sink = { data: () => undefined, end: () => undefined, fail: () => undefined }

function empty(model: string): GatewayError {
  return new GatewayError('upstream_invalid_response', { model, reason: 'the stream is empty' }, { tags: ['invalid'] })
}

/** Bytes that are searched for the first frame. */
const firstLimit = 64 * 1024
/** Bytes that are decoded at a time to find the first frame, because a chunk may hold hundreds of frames. */
const firstBytes = 2 * 1024

function firstFrame(decoder: FrameDecoder, chunk: Uint8Array): Frame | undefined {
  for (let at = 0; at < chunk.length; at += firstBytes) {
    const [frame] = decoder.push(chunk.subarray(at, at + firstBytes))
    if (frame) return frame
  }
  return undefined
}

function wholeBody(bytes: Buffer, model: string, verbatim: ReadonlySet<string> | undefined): JsonObject {
  let body: unknown
  try {
    const text = bytes.toString()
    body = verbatim ? parseVerbatim(text, verbatim) : parseJson(text)
  } catch (cause) {
    throw new GatewayError(
      'upstream_invalid_response',
      { model, reason: 'it is no JSON' },
      { cause, tags: ['invalid'] },
    )
  }
  if (isObject(body)) return body
  throw new GatewayError('upstream_invalid_response', { model, reason: 'it is no JSON object' }, { tags: ['invalid'] })
}
