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
  Scope,
  Sink,
  Source,
  Upstream,
} from '../../engine/index.ts'
import { AwsEventStream } from './aws-event-stream.ts'
import { JsonLines } from './json-lines.ts'
import { askNeutral } from './neutral.ts'
import { forgotten, isRefused, lacking, refusal, refusedAnswer, refusedFrame } from './refusal.ts'

const limit = <const N extends string, const D extends string>(name: N, fallback: D, description: string) =>
  ({ ...durationSchema, default: fallback, 'x-setting': `resilience.timeouts.${name}`, description }) as const

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
    { duty: 'limit', at: 'before' },
    { duty: 'allow', at: 'before', of: 'candidates' },
    { duty: 'reserve', at: 'before', of: 'candidates' },
    { duty: 'breaker', at: 'before', of: 'model' },
    { duty: 'answered', at: 'after', with: 'breaker' },
    { duty: 'price', at: 'finally' },
    { duty: 'charge', at: 'finally' },
    { duty: 'log', at: 'finally' },
  ],
  // A whole answer is complete only at its end.
  timeout: '1h',
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
    return ({ request, model, upstream }, scope) =>
      new Promise((resolve, reject) => {
        const started = performance.now()
        const { operation } = request
        const { protocol } = model.offer
        const timeouts = request.background ? patient : usual
        const free = prices.asks(scope)
        const over = () => scope.time('upstream', performance.now() - started)
        const refuse = (error: unknown) =>
          guarded(reject, () => {
            over()
            if (isRefused(error)) free()
            reject(lacking(error, request) ? request.missing : error)
          })
        const give = (upstream: Upstream, content: AnswerContent) => {
          over()
          resolve({ upstream, answer: answering(operation, content) })
        }
        const used: Reading['used'] = (reported) => prices.addFailed(scope, model.model.pricing, reported)
        const asked = (codec: AnyUpstreamCodec, upstream: Upstream, failed: (error: unknown) => void) => {
          const reading = { codec, limit, host, scope, used, translated: !upstream.same }
          const given = (content: AnswerContent) => give(upstream, content)
          guarded(failed, () =>
            ask(request, model, upstream, { codec, scope, timeouts, once }).then(
              (answer) => guarded(failed, () => begun(answer, model, reading, given, failed)),
              failed,
            ),
          )
        }
        if (protocol === undefined) {
          askNeutral(request, model, scope, timeouts).then((content) => give(upstream, content), refuse)
          return
        }
        const codec = host.upstreamCodec(protocol)
        asked(codec, upstream, (error) =>
          guarded(refuse, () => {
            const whole = forgotten(error) && upstream.whole?.()
            if (whole) scope.note('conversation', 'lost by the provider')
            const other = whole || without(upstream, error)
            if (other) asked(codec, other, refuse)
            else refuse(error)
          }),
        )
      })
  },
})

/** A callback of a promise must not throw: nobody would hear of it. */
function guarded(failed: (error: unknown) => void, act: () => unknown): void {
  try {
    act()
  } catch (error) {
    failed(error)
  }
}

/** The request without what the gateway has added to it, if that is what the provider refused. */
function without({ added }: Upstream, error: unknown): Upstream | undefined {
  return error instanceof GatewayError && added?.refused(error.failure) ? added.without() : undefined
}

interface Asking {
  /** The provider's protocol. */
  readonly codec: AnyUpstreamCodec
  readonly scope: Scope
  readonly timeouts: Call['timeouts']
  readonly once: boolean
}

function ask(request: Envelope, { provider, model }: Candidate, upstream: Upstream, asking: Asking): Promise<Answer> {
  const { codec, timeouts, scope, once } = asking
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
    timeouts,
    scope,
    once,
  }
  if (codec.protocol !== request.protocol) return provider.provider.send(call)
  return provider.provider.send(Object.assign(call, { clientHeaders: request.headers }))
}

interface Reading {
  readonly codec: AnyUpstreamCodec
  readonly limit: number
  readonly host: Host
  readonly scope: Scope
  /** Whether the answer goes to a client of another protocol. */
  readonly translated: boolean
  /** Takes what the provider reported to have used for an answer that is an error. */
  readonly used: (reported: Metered) => void
}

/** The kind of answer by its media type, once enough bytes have arrived to be certain. Calls one of its functions. */
function begun(
  answer: Answer,
  candidate: Candidate,
  reading: Reading,
  given: (content: AnswerContent) => void,
  failed: (error: unknown) => void,
): void {
  const { codec } = reading
  if (answer.status >= 400) return void refusal(answer, candidate, reading).then(failed, failed)
  const type = answer.headers['content-type'] ?? ''
  const media = type.toLowerCase()
  const json = media.startsWith('application/json')
  // A protocol without events and failing frames has no streams. If one arrives anyway, it is parsed as a whole answer.
  if (codec.failed || codec.events) {
    const source = framed(answer.body, media, reading)
    if (source) return void events(source, candidate.model.name, reading).then(given, failed)
  }
  if (codec.answers === 'bytes' && !json) {
    const bytes = ({ source }: { readonly source: Source }): AnswerContent => ({
      kind: 'bytes',
      source,
      type: type === '' ? 'application/octet-stream' : type,
    })
    return void peek(answer.body, () => true).then((peeked) => given(bytes(peeked)), failed)
  }
  whole(answer, type, candidate, reading, given, failed)
}

/** An answer that is read to its end. */
function whole(
  answer: Answer,
  type: string,
  candidate: Candidate,
  reading: Reading,
  given: (content: AnswerContent) => void,
  failed: (error: unknown) => void,
): void {
  const { codec, limit, host, scope } = reading
  const json = type.toLowerCase().startsWith('application/json')
  const hold = answerHold(host, scope)
  const read = (bytes: Buffer): AnswerContent => {
    // A transcript may be plain text or subtitles; only the client knows whether that is right.
    if (codec.answers === 'text' && !json) return { kind: 'whole', bytes, body: null, type: type || 'text/plain' }
    // Official clients do not parse JSON with another media type.
    return wholeAnswer(bytes, json ? type : 'application/json', candidate, reading)
  }
  const end = (bytes: Buffer) => {
    let content: AnswerContent
    try {
      content = read(bytes)
    } catch (error) {
      hold.release()
      return failed(error)
    }
    given(content)
  }
  collecting(answer.body, limit, hold, { end, fail: failed })
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
  const is = (types: readonly string[]) => types.some((type) => media.startsWith(type))
  switch (framing) {
    case 'sse':
      return is(['text/event-stream']) ? source : undefined
    case 'aws-event-stream':
      return is(['application/vnd.amazon.eventstream'])
        ? through(source, new AwsEventStream(eventRoom(host, scope)))
        : undefined
    case 'ndjson':
      return is(jsonLines) ? through(source, new JsonLines(eventRoom(host, scope))) : undefined
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
