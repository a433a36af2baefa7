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

/** Every error code of the gateway itself. The reference lists exactly this table. */
export const errors = {
  invalid_json: row(400, request, 'never', 'The body is not valid JSON: {reason}.'),
  invalid_request: row(400, request, 'never', '{reason}'),
  invalid_params: row(400, request, 'never', '{reason}'),
  invalid_value: row(400, request, 'never', 'Invalid value at {param}: {reason}.'),
  invalid_request_error: row(400, request, 'never', 'The model "{model}" is not served on this endpoint: {reason}.'),
  header_mismatch: row(400, request, 'never', 'The headers and the body disagree: {reason}.'),
  unsupported_protocol_version: row(400, request, 'never', 'The protocol version "{version}" is not served here.'),
  unsupported_parameter: row(400, request, 'never', '{param} is not supported: {reason}.'),
  previous_response_not_found: row(400, request, 'never', 'Previous response with id "{id}" not found.'),
  invalid_encrypted_content: row(400, request, 'never', 'The encrypted content at {param} cannot be read here.'),
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
  configuration_error: row(400, request, 'never', '{reason}'),
  routing_constraints_unmet: row(400, request, 'never', '{reason}'),
  no_available_models: row(400, request, 'never', '{reason}'),
  upstream_rejected: row(400, request, 'never', '{reason}'),
  invalid_api_key: row(401, request, 'never', 'The API key is unknown, expired or revoked.'),
  invalid_token: row(401, request, 'never', 'The session is unknown, expired or revoked; sign in again.'),
  invalid_credentials: row(401, request, 'never', 'The username or the password is wrong.'),
  invalid_setup_token: row(
    401,
    request,
    'never',
    'The setup token is wrong. The gateway prints the right one at its start.',
  ),
  session_over: row(401, request, 'never', 'The session has reached its longest life; sign in again.'),
  wrong_password: row(401, request, 'never', 'The password is wrong.'),
  forbidden: row(403, request, 'never', 'This account is not allowed to do that.'),
  own_account: row(403, request, 'never', 'Nobody may change {param} of their own account.'),
  password_change_required: row(403, request, 'never', 'Change the password first.'),
  reveal_off: row(
    403,
    request,
    'never',
    'Secrets of providers are not shown: the setting security.reveal_keys is off.',
  ),
  stdio_not_allowed: row(
    403,
    request,
    'never',
    'The program may not be started: mcp.allow_stdio in the configuration file does not allow its {field}.',
  ),
  self_service_off: row(
    403,
    request,
    'never',
    'Members may not make keys: the setting security.self_service_keys is off.',
  ),
  price_unknown: row(
    403,
    request,
    'never',
    'The model "{model}" has no price for {reason}. Its operator can give it one, or set rate_limits.budget.unknown_price to allow.',
  ),
  origin_not_allowed: row(403, request, 'never', 'Pages from other origins are not allowed to connect.'),
  host_not_allowed: row(403, request, 'never', 'This is not served under the name in the host header.'),
  tool_not_allowed: row(403, request, 'never', 'The tool "{tool}" is not offered here.'),
  refused: row(403, request, 'never', 'This is not served here.'),
  model_not_allowed: row(403, request, 'never', 'This API key may not use the model "{model}".'),
  allowlist_exhausted: row(403, request, 'never', '{reason}'),
  response_not_found: row(404, request, 'never', 'Response with id "{id}" not found.'),
  response_not_cancellable: row(409, request, 'never', '{reason}'),
  model_not_found: row(404, request, 'never', 'The model "{model}" does not exist.'),
  session_not_found: row(404, request, 'never', 'The session is unknown or has ended; initialize a new one.'),
  not_found: row(404, request, 'never', 'Nothing is served at {method} {path}.'),
  method_not_allowed: row(405, request, 'never', '{method} is not served at {path}; use {allow}.'),
  not_acceptable: row(406, request, 'never', 'The accept header must list {expected}.'),
  stream_open: row(409, request, 'never', 'The session has an open stream already.'),
  declared_in_file: row(
    409,
    request,
    'never',
    'The {type} "{name}" is declared in the configuration file: change it there.',
  ),
  name_taken: row(409, request, 'never', '{reason}'),
  last_admin: row(409, request, 'never', 'This is the last admin who can sign in.'),
  setup_done: row(409, request, 'never', 'The gateway is set up already; sign in.'),
  too_many_keys: row(409, request, 'never', 'A member may have at most {limit} API keys.'),
  sync_refused: row(409, request, 'never', '{reason}'),
  feedback_exists: row(409, request, 'never', 'The request "{id}" has been rated already.'),
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
  window_too_large: row(422, request, 'never', 'The answer would be too large: {reason}.'),
  outside_own_limits: row(422, request, 'never', '{param} exceeds what this account may use itself.'),
  not_routed: row(422, request, 'never', 'No model was chosen for the request "{id}", so there is nothing to rate.'),
  upgrade_required: row(426, request, 'never', '{path} accepts only WebSocket connections.'),
  storage_exceeded: row(429, 'rate_limit_error', 'never', 'This API key cannot store another response: {reason}'),
  rate_limit_exceeded: row(429, 'rate_limit_error', 'same', 'The provider of "{model}" is busy: {reason}'),
  too_many_attempts: row(429, 'rate_limit_error', 'never', 'There were too many attempts; try again later.'),
  budget_exceeded: row(429, 'insufficient_quota', 'never', '{reason}'),
  client_closed: row(499, request, 'never', 'The client left before the answer was complete.'),
  cancelled: row(499, request, 'never', 'The response was cancelled.'),
  internal_error: row(500, server, 'never', hidden),
  unsupported: row(501, server, 'never', 'The gateway cannot do this here: {reason}.'),
  upstream_error: row(502, server, 'other', 'The provider of "{model}" failed: {reason}'),
  upstream_unreachable: row(502, server, 'same', 'The provider of "{model}" could not be reached.'),
  upstream_invalid_response: row(502, server, 'same', 'The provider of "{model}" sent an invalid response: {reason}.'),
  upstream_refused_key: row(502, server, 'other', 'The provider of "{model}" refused the credentials of the gateway.'),
  breaker_open: row(503, server, 'other', 'The provider of "{model}" fails too often to be asked now.'),
  provider_off: row(503, server, 'other', 'The provider of "{model}" is switched off: {reason}.'),
  redis_not_available: row(503, server, 'never', 'Background responses need the shared key-value store: {reason}.'),
  store_unavailable: row(503, server, 'same', 'The gateway cannot reach its data store; try again shortly.'),
  overloaded: row(503, server, 'same', 'The gateway is overloaded; try again shortly.'),
  draining: row(503, server, 'same', 'The gateway is about to stop; try again shortly.'),
  worker_lost: row(500, server, 'never', 'The process that worked on the response was lost.'),
  upstream_timeout: row(504, server, 'other', 'The provider of "{model}" did not answer in time.'),
  stage_timeout: row(504, server, 'other', 'The gateway did not finish in time: "{stage}" took too long.'),
} satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errors
