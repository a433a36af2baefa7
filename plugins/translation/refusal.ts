import { GatewayError } from '../../engine/index.ts'
import {
  answerHold,
  collect,
  isObject,
  parsedJson,
  refusedAccess,
  retryAfterOf,
  scrubbedFailure,
} from '../../engine/kit.ts'
import type {
  Answer,
  AnyCodec,
  AnyUpstreamCodec,
  Candidate,
  Envelope,
  ErrorCode,
  Failure,
  Frame,
  Host,
  Json,
  JsonObject,
  Metered,
} from '../../engine/index.ts'

/** What reading an answer that is an error needs. */
interface Refusing {
  readonly codec: AnyUpstreamCodec
  readonly host: Host
  /** Takes what the provider reported to have used nevertheless. */
  used(reported: Metered): void
}

/** Most bytes of an error body that are read. */
const errorLimit = 1024 * 1024

/** Turns an upstream's error response into the client's error: a 4xx stays, everything else becomes 502. */
export async function refusal(answer: Answer, { model }: Candidate, refusing: Refusing): Promise<GatewayError> {
  const { codec, host } = refusing
  const hold = answerHold(host)
  const bytes = await collect(answer.body, errorLimit, hold)
  hold.release()
  // Error pages of proxies are not JSON; their status is enough.
  const body = parsedJson(bytes.toString())
  const failure = codec.error.parse(answer.status, body)
  if (body !== undefined) refusing.used(meterOf(codec)?.reply(body) ?? {})
  const retryAfter = retryAfterOf(answer.headers)
  const shouldRetry = words.get(answer.headers['x-should-retry'] ?? '')
  return refused(
    {
      ...failure,
      ...(retryAfter === undefined ? {} : { retryAfter }),
      ...(shouldRetry === undefined ? {} : { shouldRetry }),
    },
    model.name,
    host,
  )
}

/** The error that the first frame of a stream announces, if any. */
export function refusedFrame(frame: Frame, model: string, refusing: Refusing): GatewayError | undefined {
  const { codec, host } = refusing
  const failure = codec.failed?.(frame)
  if (failure === undefined) return undefined
  refusing.used(meterOf(codec)?.stream([frame], [frame]) ?? {})
  return refused(failure, model, host)
}

/** The error in a whole answer with a success status, which some vendors send. */
export function refusedAnswer(
  bytes: Buffer,
  body: JsonObject,
  model: string,
  refusing: Refusing,
): GatewayError | undefined {
  const { error } = body
  if (!isObject(error) && (typeof error !== 'string' || error === '')) return undefined
  const { codec, host } = refusing
  const parsed = () => codec.error.parse(statusOf(error), body)
  const failure = codec.failed && isObject(error) ? codec.failed({ data: bytes.toString() }) : parsed()
  if (failure === undefined) return undefined
  refusing.used(meterOf(codec)?.reply(body) ?? {})
  return refused(failure, model, host)
}

function statusOf(error: Json): number {
  const code = isObject(error) ? error['code'] : undefined
  return typeof code === 'number' && code >= 400 && code <= 599 ? code : 502
}

/** The meter of a codec of both sides; no other codec has one. */
function meterOf(codec: AnyUpstreamCodec): AnyCodec['meter'] | undefined {
  return 'meter' in codec ? (codec as AnyCodec).meter : undefined
}

/** Turns a provider's failure into the client's error: without secrets, and 502 if the provider itself is at fault. */
export function refused(told: Failure, model: string, host: Host): GatewayError {
  const failure = scrubbedFailure(told, host.scrub)
  const { status, message, retryAfter, shouldRetry } = failure
  const tags = [String(status)]
  const again = {
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...(shouldRetry === undefined ? {} : { shouldRetry }),
  }
  const code = codeOf(status)
  switch (code) {
    // The client must not see what a provider says about our credentials or its internal errors.
    case 'upstream_refused_key':
      return refusedAccess(failure, model, { cause: failure, tags, ...again, shouldRetry: false })
    case 'upstream_timeout':
      return new GatewayError(code, { model }, { cause: failure, tags, ...again })
    case 'overloaded':
      return new GatewayError(
        code,
        { model },
        { cause: failure, tags, ...again, message: `The provider of "${model}" is overloaded: ${message}` },
      )
    case 'upstream_error': {
      // An overloaded provider has not started the work, so a retry can neither answer nor cost twice.
      const retry = status === 503 ? { retry: 'same' as const } : {}
      return new GatewayError(code, { model, reason: message }, { cause: failure, tags, ...again, ...retry })
    }
    default:
      return new GatewayError(
        code,
        { model, reason: message },
        {
          status,
          code: failure.code,
          type: failure.type,
          message,
          ...(failure.param === null ? {} : { param: failure.param }),
          ...(failure.details ? { details: failure.details } : {}),
          ...again,
          tags,
        },
      )
  }
}

/** Whether a provider answered with an error, or no request reached it: either way it made nothing. */
export function isRefused(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false
  const { code, tags } = error
  const isUnsent = code === 'upstream_unreachable' || (tags.includes('connect') && tags.includes('timeout'))
  return isUnsent || tags.some((tag) => /^\d{3}$/.test(tag))
}

/** Whether a provider rejected a request because the missing conversation is unknown to it, too. */
export function lacking(error: unknown, { missing }: Envelope): boolean {
  if (!missing || !(error instanceof GatewayError)) return false
  const { status, code, param, message } = error.failure
  if (status !== 400 && status !== 404) return false
  const { failure, facts } = missing
  const named = typeof facts['id'] === 'string' && facts['id'].length >= 8 && message.includes(facts['id'])
  return named || (code !== null && code === failure.code) || (param !== null && param === failure.param)
}

/** Whether a provider rejected a request because something that the request refers to does not exist. */
export function forgotten(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false
  const { status, code, message } = error.failure
  return status === 404 || (status === 400 && (code === 'previous_response_not_found' || /not found/i.test(message)))
}

function codeOf(status: number): ErrorCode {
  if (status === 401 || status === 403) return 'upstream_refused_key'
  if (status === 408 || status === 504) return 'upstream_timeout'
  if (status === 429) return 'rate_limit_exceeded'
  if (status === 529) return 'overloaded'
  return status >= 500 ? 'upstream_error' : 'upstream_rejected'
}

/** The header `x-should-retry`, which official clients obey. */
const words: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])
