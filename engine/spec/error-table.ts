/** Whether the same request may succeed later: `never`, at the `same` provider, or only at an `other` one. */
export type Retry = 'never' | 'same' | 'other'

/** One row of the error table: the meaning of a code for every client. */
export interface ErrorRow {
  readonly status: number
  /** The `type` word of the error body. */
  readonly type: string
  readonly retry: Retry
  /** A sentence with placeholders such as `{model}`. */
  readonly message: string
}

const row = (status: number, type: string, retry: Retry, message: string): ErrorRow => ({
  status,
  type,
  retry,
  message,
})
const request = 'invalid_request_error'
const server = 'server_error'
const hidden = 'Something failed inside the gateway. The request id helps to find it in the log.'

/** The error codes of the engine. Plugins declare their own (`defineErrors`). */
export const errors = {
  invalid_json: row(400, request, 'never', 'The body is not valid JSON: {reason}.'),
  invalid_request: row(400, request, 'never', '{reason}'),
  invalid_value: row(400, request, 'never', 'Invalid value at {param}: {reason}.'),
  invalid_request_error: row(400, request, 'never', 'The model "{model}" is not served on this endpoint: {reason}.'),
  response_already_in_flight: row(
    400,
    request,
    'same',
    'A response is still in progress; send the next message when it is complete.',
  ),
  websocket_connection_limit_reached: row(
    400,
    request,
    'same',
    'The socket has been open for the longest time allowed; connect again.',
  ),
  invalid_api_key: row(401, request, 'never', 'The API key is unknown, expired or revoked.'),
  invalid_token: row(401, request, 'never', 'The session is unknown, expired or revoked; sign in again.'),
  forbidden: row(403, request, 'never', 'This account is not allowed to do that.'),
  origin_not_allowed: row(403, request, 'never', 'Pages from other origins are not allowed to connect.'),
  refused: row(403, request, 'never', 'This is not served here.'),
  model_not_found: row(404, request, 'never', 'The model "{model}" does not exist.'),
  not_found: row(404, request, 'never', 'Nothing is served at {method} {path}.'),
  method_not_allowed: row(405, request, 'never', '{method} is not served at {path}; use {allow}.'),
  declared_in_file: row(
    409,
    request,
    'never',
    'The {type} "{name}" is declared in the configuration file: change it there.',
  ),
  name_taken: row(409, request, 'never', '{reason}'),
  in_use: row(409, request, 'never', 'The {type} "{name}" is in use: {reason}.'),
  stale_version: row(412, request, 'never', 'The {type} "{name}" has changed: it is version {version} now.'),
  invalid_configuration: row(422, request, 'never', '{reason}'),
  request_timeout: row(408, request, 'same', 'No part of the body arrived for {seconds} seconds.'),
  request_too_large: row(413, request, 'never', 'The body is larger than {limit} bytes.'),
  unsupported_media_type: row(415, request, 'never', 'The type or encoding "{given}" is not accepted; use {expected}.'),
  missing_field: row(422, request, 'never', '{param} is missing.'),
  unknown_field: row(422, request, 'never', 'There is no field {param}.'),
  invalid_field: row(422, request, 'never', '{param} {reason}.'),
  invalid_reference: row(422, request, 'never', '{param} {reason}.'),
  reserved_name: row(422, request, 'never', 'The name "{name}" is reserved.'),
  secret_required: row(
    422,
    request,
    'never',
    'The change would send the secret "{param}" to another place: enter it again with the change.',
  ),
  private_address: row(422, request, 'never', '{param} is a private address; set allow_private to allow it.'),
  invalid_cursor: row(422, request, 'never', '{param} is not a cursor of this list with the same sort and filters.'),
  upgrade_required: row(426, request, 'never', '{path} accepts only WebSocket connections.'),
  rate_limit_exceeded: row(429, 'rate_limit_error', 'same', 'The provider of "{model}" is busy: {reason}'),
  client_closed: row(499, request, 'never', 'The client left before the answer was complete.'),
  cancelled: row(499, request, 'never', 'The response was cancelled.'),
  internal_error: row(500, server, 'never', hidden),
  unsupported: row(501, server, 'never', 'The gateway cannot do this here: {reason}.'),
  upstream_error: row(502, server, 'other', 'The provider of "{model}" failed: {reason}'),
  upstream_unreachable: row(502, server, 'same', 'The provider of "{model}" could not be reached.'),
  upstream_invalid_response: row(502, server, 'same', 'The provider of "{model}" sent an invalid response: {reason}.'),
  upstream_refused_key: row(502, server, 'other', 'The provider of "{model}" refused the credentials of the gateway.'),
  store_unavailable: row(503, server, 'same', 'The gateway cannot reach its data store; try again shortly.'),
  overloaded: row(503, server, 'same', 'The gateway is overloaded; try again shortly.'),
  draining: row(503, server, 'same', 'The gateway is about to stop; try again shortly.'),
  worker_lost: row(500, server, 'never', 'The process that worked on the response was lost.'),
  upstream_timeout: row(504, server, 'other', 'The provider of "{model}" did not answer in time.'),
  stage_timeout: row(504, server, 'other', 'The gateway did not finish in time: "{stage}" took too long.'),
} satisfies Record<string, ErrorRow>

/**
 * The error codes of plugins. A plugin adds its own:
 * `declare module 'sluice' { interface ErrorCodes { tide_out: true } }`.
 */
// oxlint-disable-next-line typescript/no-empty-object-type
export interface ErrorCodes {}

export type ErrorCode = keyof typeof errors | keyof ErrorCodes

/** The codes of declared rows, for `ErrorCodes`. */
export type CodesOf<R> = { readonly [C in keyof R]: true }

/** A row of a plugin's error table. */
export interface DeclaredError {
  readonly status: number
  /** Default: `invalid_request_error`, from 500 on `server_error`. */
  readonly type?: string
  /** Default: `never`. */
  readonly retry?: Retry
  /** A sentence with placeholders such as `{place}`. */
  readonly message: string
  /** What a client or an operator can do, for the reference. */
  readonly advice?: string
  /** The sessions that get it from every action whose `also` does not admit them. */
  readonly refuses?: 'pending' | 'over'
}

/** Rows of loaded plugins, and those of them that serve: a configuration that is refused changes no answer. */
const declared = new Map<string, ErrorRow>()
const serving = new Map<string, ErrorRow>()

/** Declares the error codes of a plugin, which lists them as `errors`. A code of the engine is never replaced. */
export function defineErrors<const R extends Readonly<Record<string, DeclaredError>>>(rows: R): R {
  for (const [code, one] of Object.entries(rows)) declared.set(code, completed(one))
  return rows
}

/** Serves the codes of the plugins of a configuration from now on. */
export function serveErrors(rows: ReadonlyMap<string, DeclaredError>): void {
  for (const [code, one] of rows) serving.set(code, completed(one))
}

/** A declared row with its defaults. */
export function completed({ status, type, retry = 'never', message }: DeclaredError): ErrorRow {
  return { status, type: type ?? (status >= 500 ? server : request), retry, message }
}

/** The row of a code; undefined: no loaded plugin declares it. */
export function rowOf(code: string): ErrorRow | undefined {
  return Object.hasOwn(errors, code) ? errors[code as keyof typeof errors] : (serving.get(code) ?? declared.get(code))
}
