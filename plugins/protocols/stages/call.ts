import {
  FrameDecoder,
  GatewayError,
  collect,
  defineStage,
  duration,
  durationSchema,
  failed,
  isObject,
  peek,
} from '../../../engine/index.ts'
import type {
  Answer,
  AnyCodec,
  Candidate,
  Envelope,
  GenerateEvent,
  Host,
  Json,
  Scope,
  Upstream,
  UpstreamAnswer,
} from '../../../engine/index.ts'
import { refusal, refusedFrame } from './refusal.ts'

/** Asks the provider. Gives its answer once the first event has arrived: until then another provider may still be tried. */
export default defineStage({
  name: 'call',
  summary: 'Ask the provider and wait for the beginning of its answer.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      first_byte: {
        ...durationSchema,
        default: '60s',
        description: 'How long to wait for the beginning of the answer.',
      },
      idle: { ...durationSchema, default: '60s', description: 'How long a stream may be silent.' },
      total: { ...durationSchema, default: '10m', description: 'How long the whole answer may take.' },
      limit: { type: 'integer', minimum: 1, default: 67_108_864, description: 'Most bytes a whole answer may have.' },
    },
  } as const,
  needs: ['request', 'model', 'upstream'],
  provides: ['answer'],
  build: (config, host) => {
    const timeouts = {
      firstByte: duration(config.first_byte),
      idle: duration(config.idle),
      total: duration(config.total),
    }
    return async ({ request, model, upstream }, scope) => {
      const started = performance.now()
      try {
        if (model.offer.protocol === undefined) return { answer: await askNeutral(request, model, scope) }
        return { answer: await ask(request, model, upstream, { scope, timeouts, limit: config.limit, host }) }
      } finally {
        scope.time('upstream', performance.now() - started)
      }
    }
  },
})

interface Asking {
  readonly scope: Scope
  readonly timeouts: { readonly firstByte: number; readonly idle: number; readonly total: number }
  readonly limit: number
  readonly host: Host
}

async function ask(
  request: Envelope,
  candidate: Candidate,
  upstream: Upstream,
  asking: Asking,
): Promise<UpstreamAnswer> {
  const { provider, model, offer } = candidate
  const codec = asking.host.codec(offer.protocol ?? request.protocol)
  if (!provider.provider.send || !upstream.body)
    throw new Error(`provider "${provider.name}" offers ${codec.protocol} and cannot send`)
  const answer = await provider.provider.send({
    operation: request.operation,
    protocol: codec.protocol,
    body: upstream.body,
    contentType: upstream.contentType ?? 'application/json',
    stream: request.stream,
    ...(upstream.same ? { clientHeaders: request.headers } : {}),
    model: model.upstream_model,
    timeouts: asking.timeouts,
    scope: asking.scope,
  })
  if (answer.status >= 400) throw await refusal(answer, codec, candidate, asking.host)
  return begun(answer, codec, candidate, asking)
}

/** The kind of answer it is, by its media type, once enough of it is there to be sure that it is one. */
async function begun(
  answer: Answer,
  codec: AnyCodec,
  { model }: Candidate,
  { limit, host }: Asking,
): Promise<UpstreamAnswer> {
  const type = answer.headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) return events(answer, codec, model.name, host)
  if (codec.answers === 'bytes' && !type.startsWith('application/json')) {
    const { source } = await peek(answer.body, () => true)
    return { kind: 'bytes', source, type: type === '' ? 'application/octet-stream' : type }
  }
  const bytes = await collect(answer.body, limit)
  // A transcript may be plain text or subtitles; nobody but the client can tell whether that is right.
  if (codec.answers === 'text' && !type.startsWith('application/json'))
    return { kind: 'whole', bytes, body: null, type }
  return { kind: 'whole', bytes, body: wholeBody(bytes, model.name), type }
}

async function events(answer: Answer, codec: AnyCodec, model: string, host: Host): Promise<UpstreamAnswer> {
  const decoder = new FrameDecoder()
  let refused: GatewayError | undefined
  let seen = false
  const { source } = await peek(answer.body, (chunk) => {
    const [frame] = decoder.push(chunk)
    if (frame) {
      seen = true
      refused = refusedFrame(frame, codec, model, host)
    }
    return seen
  })
  if (refused) throw refused
  if (!seen && decoder.end().length === 0)
    throw new GatewayError('upstream_invalid_response', { model, reason: 'the stream is empty' }, { tags: ['invalid'] })
  return { kind: 'events', source }
}

function wholeBody(bytes: Buffer, model: string): Json {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString())
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

async function askNeutral(request: Envelope, { provider, model }: Candidate, scope: Scope): Promise<UpstreamAnswer> {
  const respond = provider.provider.answer?.generate
  if (request.operation !== 'generate' || !respond)
    throw new GatewayError('unsupported', { model: model.name, reason: `its provider does not ${request.operation}` })
  const answer = respond(request.neutral('generate'), model.upstream_model, scope)
  if (!(Symbol.asyncIterator in answer)) return { kind: 'neutral-reply', reply: await answer }
  const iterator = answer[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true)
    throw new GatewayError(
      'upstream_invalid_response',
      { model: model.name, reason: 'the answer is empty' },
      { tags: ['invalid'] },
    )
  if (first.value.type === 'failure') throw failed(first.value)
  return { kind: 'neutral-events', events: resumed(first.value, iterator) }
}

async function* resumed(first: GenerateEvent, iterator: AsyncIterator<GenerateEvent>): AsyncGenerator<GenerateEvent> {
  try {
    yield first
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
  } finally {
    await iterator.return?.()
  }
}
