import type { ErrorParser, Failure, Frame, Json, JsonObject } from '../../../engine/index.ts'
import { asText, isObject, parsedObject } from '../../../engine/kit.ts'

/** Statuses of exceptions in a stream (docs.aws.amazon.com/bedrock, API_runtime_ConverseStream); any other is 502. */
const statuses: ReadonlyMap<string, number> = new Map([
  ['accessDeniedException', 403],
  ['expiredTokenException', 403],
  ['modelNotReadyException', 429],
  ['modelTimeoutException', 504],
  ['resourceNotFoundException', 404],
  ['serviceQuotaExceededException', 429],
  ['serviceUnavailableException', 503],
  ['throttlingException', 429],
  ['validationException', 400],
])

/** Agents shorten the conversation when they are told this code. */
const overflow =
  /(input|prompt) is too long|too many (input )?tokens|exceeds? the (maximum|model).{0,80}(context|tokens)/i

/** `{ message }`, in some errors `{ Message }`. */
export const error: ErrorParser = { parse }

function parse(status: number, body: Json | undefined): Failure {
  const told = isObject(body) ? body : {}
  const message = asText(told['message']) || asText(told['Message']) || `The provider answered with status ${status}.`
  return {
    status,
    code: status === 400 && overflow.test(message) ? 'context_length_exceeded' : null,
    type: status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error',
    message,
    param: null,
  }
}

/** The failure that a frame reports: one named after an exception or an error, such as `throttlingException`. */
export function failed({ event = '', data }: Frame): Failure | undefined {
  if (!/(Exception|Error|Failure)$/i.test(event)) return undefined
  const body: JsonObject = parsedObject(data) ?? {}
  const name = event.charAt(0).toLowerCase() + event.slice(1)
  const told = asText(body['originalMessage'])
  return parse(statuses.get(name) ?? 502, told === '' ? body : { message: `${asText(body['message'])} ${told}`.trim() })
}
