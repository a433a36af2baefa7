import type { Operation } from './operation.ts'
import type { TraceContext } from './trace.ts'
import type { Bill } from './usage.ts'

/**
 * What is told on the channels `sluice:<kind>:start`, `sluice:<kind>:error` and `sluice:<kind>:end` of
 * `node:diagnostics_channel`, by kind. The three messages of one exchange, stage and so on are one object, to which more is
 * known at each; after every start comes one end. No message holds a prompt, an answer or a secret.
 */
export interface Told {
  exchange: ToldExchange
  stage: ToldStage
  attempt: ToldAttempt
  call: ToldCall
  reload: ToldReload
}

/** What is known of everything once it has ended. */
export interface ToldEnd {
  /** Milliseconds. */
  duration?: number
  error?: ToldError
}

export interface ToldError {
  readonly code: string
  /** The words that an `attempt` matches: `connect`, `timeout`, an upstream's status. */
  readonly tags?: readonly string[]
  /** Where in which pipeline: `pipelines/generate.yaml:15:11 (call)`. */
  readonly at?: string
}

/** A request, a message of a WebSocket, a job, or what a stage began by `host.dispatch`. */
export interface ToldExchange extends ToldEnd {
  readonly id: string
  readonly parent?: string
  readonly pipeline: string
  readonly transport?: 'http' | 'ws'
  readonly method?: string
  /** Without its query. */
  readonly path?: string
  /** What came in. At the start it may be replaced: what stands here then goes on to providers. */
  trace?: TraceContext
  // From here on what is known at its end.
  status?: number
  result?: 'completed' | 'failed' | 'client_closed'
  /** Milliseconds from its beginning. */
  firstByte?: number
  bytes?: number
  /** Id and name of the API key. */
  key?: { readonly id: string; readonly name: string }
  operation?: Operation
  protocol?: string
  stream?: boolean
  /** What served, or was tried last: names of the configuration. */
  model?: string
  provider?: string
  /** Where its pipeline has it made: the slot `bill`. */
  bill?: Bill
}

/** A stage of an exchange. */
export interface ToldStage extends ToldEnd {
  /** Id of the exchange. */
  readonly exchange: string
  readonly pipeline: string
  readonly stage: string
  /** `file:line:column`. */
  readonly at: string
  readonly attempt: number
}

/** One try of an `attempt` with one candidate. */
export interface ToldAttempt extends ToldEnd {
  readonly exchange: string
  readonly pipeline: string
  /** `file:line:column`. */
  readonly at: string
  /** From 1. */
  readonly attempt: number
  readonly model: string
  readonly provider: string
}

/** A call of a provider, until the last byte of its answer was read. */
export interface ToldCall extends ToldEnd {
  readonly exchange: string
  readonly attempt: number
  readonly provider: string
  /** The provider's type. */
  readonly type: string
  readonly operation: Operation
  /** Absent: the provider answers in neutral form. */
  readonly protocol?: string
  /** The provider's name for it. */
  readonly model: string
  /** What goes on to the provider. At the start it may be replaced. */
  trace?: TraceContext
  /** What the upstream answered; a status of 400 or more is no error of the call. */
  status?: number
  /** Milliseconds until its headers, or its first event, were there. */
  firstByte?: number
  /** Its answer was not read to the end. */
  cancelled?: boolean
}

/** A configuration that is read, the first one too. */
export interface ToldReload extends ToldEnd {
  /** Version of the one that runs meanwhile. */
  readonly previous?: string
  /** Version of what was read. */
  version?: string
  result?: 'live' | 'refused' | 'unchanged'
  /** How many were found. */
  findings?: number
}
