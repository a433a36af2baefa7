import { isObject, parsedObject } from '../../../engine/kit.ts'
import type { Asked, ErrorDialect, Failure, Frame, Json, JsonObject } from '../../../engine/index.ts'

/** Statuses of errors inside a stream by their type; any other error is the provider's own failure. */
const statuses: ReadonlyMap<Json | undefined, number> = new Map([
  ['invalid_request_error', 400],
  ['image_generation_user_error', 400],
  ['insufficient_quota', 429],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
])

/** `{ error: { message, type, param, code } }`; an upstream's error may lack fields or be plain text. */
export const dialect: ErrorDialect = {
  parse(status, body) {
    const error = bare(body)
    const { code } = error
    return {
      status,
      code: typeof code === 'number' ? String(code) : (text(code) ?? null),
      type: text(error['type']) ?? typeOf(status),
      message: text(error['message']) ?? text(error['detail']) ?? `The provider answered with status ${status}.`,
      param: text(error['param']) ?? null,
    }
  },
  print: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
}

/** The failure that an event of a stream announces: one named `error`, or one with an `error`. */
export function failed({ event, data }: Frame): Failure | undefined {
  if (event !== 'error' && !data.includes('"error"')) return undefined
  const body = parsedObject(data)
  if (event !== 'error' && !(isObject(body) && (body['type'] === 'error' || body['error']))) return undefined
  const { code, type } = bare(body)
  const status =
    typeof code === 'number' && code >= 400 && code <= 599 ? code : (statuses.get(code) ?? statuses.get(type) ?? 502)
  return dialect.parse(status, body)
}

/** The event that ends a broken stream; official clients throw on it. */
export function fail(failure: Failure, { id }: Pick<Asked, 'id'>): readonly Frame[] {
  const { error } = dialect.print(failure, id) as { error: JsonObject }
  return [{ event: 'error', data: JSON.stringify({ type: 'error', error }) }]
}

/** The object with the message: `error`, or the body itself. */
function bare(body: Json | undefined): JsonObject {
  if (!isObject(body)) return {}
  const { error } = body
  if (isObject(error)) return error
  return typeof error === 'string' ? { message: error } : body
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
