import type { ErrorDialect, Failure, Frame, Json, JsonObject } from '../../../engine/index.ts'
import { asText, isObject } from '../../../engine/kit.ts'

/** The word of each HTTP status (google.rpc.Code and its mapping to HTTP); others have that of their class. */
const words: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
])
const statuses: ReadonlyMap<string, number> = new Map([
  ...[...words].map(([status, word]): [string, number] => [word, status]),
  ['FAILED_PRECONDITION', 400],
  ['OUT_OF_RANGE', 400],
  ['ALREADY_EXISTS', 409],
  ['DATA_LOSS', 500],
  ['UNKNOWN', 500],
])

/** Texts with which the vendor says that the conversation is too long. */
const tooLong = /input token count .{0,80}exceeds|exceeds the maximum number of tokens/i

/** `{ error: { code, message, status, details? } }`; `code` is the HTTP status. */
export const dialect: ErrorDialect = {
  parse(status, body) {
    const error = errorOf(body) ?? {}
    const details = Array.isArray(error.details) ? error.details.filter(isObject) : []
    const message = asText(error.message) || `The upstream answered with status ${status}.`
    // The vendor answers 400, as to a bad request, where our own key is wrong.
    const ours = details.some(({ reason }) => reason === 'API_KEY_INVALID' || reason === 'API_KEY_EXPIRED')
    const retryAfter = delay(details)
    return {
      status: ours ? 401 : status,
      code: tooLong.test(message) ? 'context_length_exceeded' : null,
      type: neutralType(status),
      message,
      param: null,
      ...(retryAfter === undefined ? {} : { retryAfter }),
    }
  },
  print: ({ status, message, retryAfter }) => ({
    error: {
      code: status,
      message,
      status: words.get(status) ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT'),
      ...(retryAfter === undefined
        ? {}
        : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfter}s` }] }),
    },
  }),
}

/** The error of a body. Without server-sent events, the vendor answers with a list. */
function errorOf(body: Json | undefined): JsonObject | undefined {
  const one = Array.isArray(body) ? (body[0] as Json) : body
  return isObject(one) && isObject(one.error) ? one.error : undefined
}

/** Seconds of a `google.rpc.RetryInfo`, such as `34.07s`. */
function delay(details: readonly JsonObject[]): number | undefined {
  const told = asText(details.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay)
  const [seconds] = /^\d{1,7}(?=(?:\.\d{1,9})?s$)/.exec(told) ?? []
  return seconds === undefined ? undefined : Number(seconds) + (told.includes('.') ? 1 : 0)
}

function neutralType(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

/** The failure of an element of a stream; undefined for any other element. */
export function streamFailure(element: Json | undefined): Failure | undefined {
  const error = errorOf(element)
  if (!error) return undefined
  const { code, status } = error
  const known = typeof code === 'number' && code >= 400 && code <= 599 ? code : statuses.get(asText(status))
  return dialect.parse(known ?? 500, element)
}

/** The last event of a broken stream. */
export function errorFrame(failure: Failure): Frame {
  return { data: JSON.stringify(dialect.print(failure, '')) }
}
