import { GatewayError } from '../../engine/index.ts'
import { parsedObject } from '../../engine/kit.ts'
import type { ErrorDialect, Failure, Frame, Json, JsonObject } from '../../engine/index.ts'
import type { StreamEvent } from './events.ts'
import { isList, object, objects, text } from './values.ts'

/** Codes of a broken or busy upstream. Any other code means that the request is invalid. */
const theirs = new Set(['server_error', 'internal_error', 'server_is_overloaded', 'slow_down', 'vector_store_timeout'])
const busy = new Set(['rate_limit_exceeded', 'rate_limit_error', 'insufficient_quota', 'too_many_requests'])

/** Errors of this protocol: `{ error: { message, type, param, code } }`. All keys are present, null if unknown. */
export const error: ErrorDialect = {
  parse: (status, body) => parseFailure(status, body),
  print: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
}

/** Also parses the errors of related protocols: `{ error: text }`, `{ message }`, `{ detail }`. */
function parseFailure(status: number, body: Json | undefined): Failure {
  const whole = object(body)
  const detail = object(whole?.['error']) ?? whole
  const message =
    text(whole?.['error']) ?? text(detail?.['message']) ?? parseDetail(whole?.['detail']) ?? `status ${status}`
  return {
    status,
    code: text(detail?.['code']) ?? null,
    type: text(detail?.['type']) ?? typeOf(status),
    message,
    param: text(detail?.['param']) ?? null,
  }
}

function parseDetail(detail: Json | undefined): string | undefined {
  if (!isList(detail)) return text(detail)
  return (
    objects(detail)
      .flatMap((entry) => text(entry['msg']) ?? [])
      .join('; ') || undefined
  )
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status < 500 ? 'invalid_request_error' : 'server_error'
}

/** The failure that an event of a stream announces: `error` (flat or nested) or `response.failed`. */
export function eventFailure(event: JsonObject): Failure | undefined {
  if (event['type'] === 'response.failed') return responseFailure(object(event['response']) ?? {})
  if (event['type'] !== 'error' && (event['type'] !== undefined || !event['error'])) return undefined
  const nested = object(event['error']) ?? event
  const type = nested === event ? undefined : text(nested['type'])
  return announced({ ...nested, type }, event['status'])
}

/** The failure of a response that is `failed` or `cancelled`. */
export function responseFailure(response: JsonObject): Failure {
  const message = `the response is ${text(response['status']) ?? 'failed'}`
  return announced(object(response['error']) ?? { code: 'server_error', message })
}

function announced(detail: JsonObject, given?: Json): Failure {
  const code = text(detail['code']) ?? null
  const type = text(detail['type'])
  const status = typeof given === 'number' && given >= 400 && given < 600 ? given : statusOf(code, type)
  return {
    status,
    code,
    type: type ?? typeOf(status),
    message: text(detail['message']) ?? 'The provider ended the response with an error.',
    param: text(detail['param']) ?? null,
  }
}

function statusOf(code: string | null, type: string | undefined): number {
  const word = code ?? type
  if (word === undefined || theirs.has(word)) return 502
  if (busy.has(word)) return 429
  return code === null && type !== 'invalid_request_error' ? 502 : 400
}

/** The failure of an upstream whose answer cannot be parsed. */
export function unreadable(reason: string): GatewayError {
  const message = `The provider answered in a form that cannot be read: ${reason}.`
  return new GatewayError('upstream_invalid_response', { reason }, { message })
}

/** The failure of a stream that broke off. */
export function cutShort(): Failure {
  const message = 'The stream of the provider ended before it was complete.'
  return new GatewayError('upstream_error', { reason: 'ended before it was complete' }, { message }).failure
}

/** Whether a stream begins with an error. Only the first frame is parsed, so the cost is small. */
export function failed(frame: Frame): Failure | undefined {
  const { event = 'error' } = frame
  if (event !== 'error' && event !== 'response.failed') return undefined
  const value = parsedObject(frame.data)
  return value && eventFailure(value['type'] === undefined && frame.event ? { ...value, type: frame.event } : value)
}

/** The `error` event: flat as in the vendor's types, and nested as in related protocols. */
export function errorEvent({ type, code, message, param }: Failure, sequence: number): StreamEvent {
  return { type: 'error', sequence_number: sequence, code, message, param, error: { type, code, message, param } }
}

/** `error` of a failed response, which has fewer codes than an HTTP error. */
export function responseError({ status, code, message }: Failure): JsonObject {
  if (status === 429) return { code: code === 'insufficient_quota' ? code : 'rate_limit_exceeded', message }
  return { code: status >= 500 ? 'server_error' : (code ?? 'invalid_prompt'), message }
}
