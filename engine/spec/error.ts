import { mapMembers } from './json.ts'
import type { Json, JsonObject } from './json.ts'

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
  invalid_value: row(400, request, 'never', 'Invalid value at {param}: {reason}.'),
  invalid_request_error: row(400, request, 'never', 'The model "{model}" is not served on this endpoint: {reason}.'),
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
  upstream_rejected: row(400, request, 'never', '{reason}'),
  invalid_api_key: row(401, request, 'never', 'The API key is unknown, expired or revoked.'),
  invalid_token: row(401, request, 'never', 'The session is unknown, expired or revoked; sign in again.'),
  forbidden: row(403, request, 'never', 'This account is not allowed to do that.'),
  origin_not_allowed: row(403, request, 'never', 'Pages from other origins are not allowed to connect.'),
  refused: row(403, request, 'never', 'This is not served here.'),
  model_not_allowed: row(403, request, 'never', 'This API key may not use the model "{model}".'),
  response_not_found: row(404, request, 'never', 'Response with id "{id}" not found.'),
  response_not_cancellable: row(409, request, 'never', '{reason}'),
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
  upgrade_required: row(426, request, 'never', '{path} accepts only WebSocket connections.'),
  storage_exceeded: row(429, 'rate_limit_error', 'never', 'This API key cannot store another response: {reason}'),
  rate_limit_exceeded: row(429, 'rate_limit_error', 'same', 'The provider of "{model}" is busy: {reason}'),
  client_closed: row(499, request, 'never', 'The client left before the answer was complete.'),
  cancelled: row(499, request, 'never', 'The response was cancelled.'),
  internal_error: row(500, server, 'never', hidden),
  unsupported: row(501, server, 'never', 'The gateway cannot do this here: {reason}.'),
  upstream_error: row(502, server, 'other', 'The provider of "{model}" failed: {reason}'),
  upstream_unreachable: row(502, server, 'same', 'The provider of "{model}" could not be reached.'),
  upstream_invalid_response: row(502, server, 'other', 'The provider of "{model}" sent an invalid response: {reason}.'),
  upstream_refused_key: row(502, server, 'other', 'The provider of "{model}" refused the credentials of the gateway.'),
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

/** Values for the placeholders of a message, also logged. Never a key, never prompt text. */
export type Facts = Readonly<Record<string, string | number | undefined>>

/** One of several mistakes in a body. */
export interface Mistake {
  /** The place, such as `budget.usd` or `fallbacks[2]`; null: the body as a whole. */
  readonly param: string | null
  readonly code: string
  readonly message: string
}

/** An error as a client sees it, independent of the client's protocol. */
export interface Failure {
  readonly status: number
  readonly code: string | null
  readonly type: string
  readonly message: string
  /** The place in the request, such as `messages[2].content`. */
  readonly param: string | null
  /** Value of the `retry-after` header in seconds. */
  readonly retryAfter?: number
  /** False: asks official clients not to retry (`x-should-retry`). */
  readonly shouldRetry?: boolean
  /** Further fields for protocols that have a place for them. */
  readonly details?: JsonObject
  /** All mistakes in the body; this error describes the first. Every protocol prints them next to `error`. */
  readonly errors?: readonly Mistake[]
}

export interface ErrorOptions {
  readonly cause?: unknown
  /** Overrides the table's status: an upstream's 4xx keeps its own. */
  readonly status?: number
  /** Overrides the code that the client sees, with the upstream's own code. */
  readonly code?: string | null
  /** Overrides the table's `type`. */
  readonly type?: string
  /** Overrides the table's message. */
  readonly message?: string
  readonly param?: string
  /** In seconds. */
  readonly retryAfter?: number
  readonly shouldRetry?: boolean
  readonly details?: JsonObject
  readonly errors?: readonly Mistake[]
  /** Overrides the table's `retry`. */
  readonly retry?: Retry
  /** Values that `attempt: { on: [...] }` matches: `connect`, `timeout`, an upstream status such as `429`. */
  readonly tags?: readonly string[]
}

/** The only error class. Any other thrown value becomes `internal_error`. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: ErrorCode
  readonly facts: Facts
  readonly retry: Retry
  readonly tags: readonly string[]
  readonly failure: Failure
  /** The pipeline position of the error, for the log only: `pipelines/generate.yaml:15:11 (call)`. */
  at?: string

  constructor(code: ErrorCode, facts: Facts = {}, options: ErrorOptions = {}) {
    const row = errors[code]
    const message = options.message ?? fill(row.message, facts)
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.facts = facts
    this.retry = options.retry ?? row.retry
    this.tags = options.tags ?? []
    this.failure = {
      status: options.status ?? row.status,
      code: options.code === undefined ? code : options.code,
      type: options.type ?? row.type,
      message,
      param: options.param ?? (typeof facts['param'] === 'string' ? facts['param'] : null),
      ...(options.retryAfter === undefined ? {} : { retryAfter: options.retryAfter }),
      ...(options.shouldRetry === undefined ? {} : { shouldRetry: options.shouldRetry }),
      ...(options.details === undefined ? {} : { details: options.details }),
      ...(options.errors === undefined ? {} : { errors: options.errors }),
    }
  }
}

function fill(sentence: string, facts: Facts): string {
  // A codec does not know the name of the model whose answer it parses.
  const known = facts['model'] === undefined ? sentence.replace(' of "{model}"', '') : sentence
  return known.replace(/\{(\w{1,64})\}/g, (_, name: string) => String(facts[name] ?? 'unknown'))
}

/** Any thrown value as a `GatewayError`; the original is its `cause`. */
export function asGatewayError(thrown: unknown): GatewayError {
  return thrown instanceof GatewayError ? thrown : new GatewayError('internal_error', {}, { cause: thrown })
}

/** Maximum characters of a message for clients, and of each other text next to it. */
const messageLimit = 16_384
const wordLimit = 256

/** A failure ready to leave the gateway: every text is truncated and passed through `scrub`. */
export function scrubbedFailure(failure: Failure, scrub: (text: string) => string): Failure {
  const word = (text: string) => scrub(text.slice(0, wordLimit))
  const { message, code, type, param, details, errors: mistakes } = failure
  return {
    ...failure,
    message: scrub(message.slice(0, messageLimit)),
    code: code === null ? null : word(code),
    type: word(type),
    param: param === null ? null : word(param),
    ...(details ? { details: mapMembers(details, (text) => scrub(text.slice(0, messageLimit))) } : {}),
    ...(mistakes ? { errors: mistakes.map((mistake) => scrubbedMistake(mistake, word)) } : {}),
  }
}

function scrubbedMistake({ param, code, message }: Mistake, word: (text: string) => string): Mistake {
  return { param: param === null ? null : word(param), code: word(code), message: word(message) }
}

/** Parses the errors of upstreams in one protocol. */
export interface ErrorParser {
  /** An upstream's error body (parsed JSON, or undefined if it is not JSON) as a failure. */
  parse(status: number, body: Json | undefined): Failure
}

/** Prints errors for the clients of one protocol. */
export interface ErrorPrinter {
  /** The status that clients of this protocol expect, if it differs from the failure's. */
  status?(failure: Failure): number | undefined
  /**
   * The body that clients of this protocol expect.
   * @param asked the body of the request, if it was read
   */
  print(failure: Failure, requestId: string, asked?: JsonObject): Json
}

/** Both sides. */
export interface ErrorDialect extends ErrorParser, ErrorPrinter {}
