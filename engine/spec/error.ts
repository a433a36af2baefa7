import { mapMembers } from './json.ts'
import { errors, rowOf } from './error-table.ts'
import type { ErrorCode, Retry } from './error-table.ts'
import type { Json, JsonObject } from './json.ts'

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

/**
 * Tag of an error with which a stage in an `attempt` passes over its candidate before anything was sent: that is no try,
 * and the client gets this error only if no candidate was tried.
 */
export const passedOver = 'passed-over'

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
    const row = rowOf(code) ?? errors.internal_error
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

/** Errors that say that a store cannot be used at the moment, not that a query was wrong. */
const ofStores = new WeakSet()

/** Marks an error of a store that cannot be used at the moment: its client gets `store_unavailable`. Returns it. */
export function ofStore<E>(error: E): E {
  if (error instanceof Error) ofStores.add(error)
  return error
}

/**
 * Any thrown value as a `GatewayError`; the original is its `cause`. An error marked by `ofStore` is
 * `store_unavailable`, whoever asked the store.
 */
export function asGatewayError(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  const isOfStore = thrown instanceof Error && ofStores.has(thrown)
  return new GatewayError(isOfStore ? 'store_unavailable' : 'internal_error', {}, { cause: thrown })
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
  /**
   * An upstream's error body (parsed JSON, or undefined if it is not JSON) as a failure. Its status decides whether the
   * request is tried elsewhere; it may be another one than the answer's, where a vendor uses statuses in its own way.
   */
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

/**
 * Thrown when a component is opened or built with settings it cannot accept: the reason, and its place in the
 * settings.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  /** Path to the value in the settings; empty: the settings as a whole. */
  readonly path: readonly (string | number)[]

  constructor(message: string, path: readonly (string | number)[] = []) {
    super(message)
    this.path = path
  }
}
