import type { CallFacts, ExchangeFacts } from './call-facts.ts'
import type { Operation } from './operation.ts'
import type { Scope, TraceContext } from './scope.ts'
import type { Reply, Slots } from './slots.ts'
import type { Bill } from './usage.ts'

/**
 * Messages on the channels `sluice:<kind>:start`, `sluice:<kind>:error` and `sluice:<kind>:end` of
 * `node:diagnostics_channel`, by kind. The messages of one exchange, stage and so on are the same object, which gains
 * fields over time; every start is followed by exactly one end. No message contains a prompt, an answer or a secret.
 */
export interface Told {
  exchange: ToldExchange
  stage: ToldStage
  attempt: ToldAttempt
  call: ToldCall
  reload: ToldReload
  socket: ToldSocket
}

/**
 * The message on the channel `sluice:reply`, the only one that leads to contents: an exchange is about to answer its
 * client. A subscriber may replace `reply`, such as by one whose stream it watches.
 */
export interface ToldReply {
  readonly scope: Pick<Scope, 'id' | 'onEnd'>
  readonly slots: Readonly<Partial<Slots>>
  reply: Reply
}

/** The fields that every message has at its end. */
export interface ToldEnd {
  /** In milliseconds. */
  duration?: number
  error?: ToldError
}

export interface ToldError {
  readonly code: string
  /** Values that an `attempt` matches: `connect`, `timeout`, an upstream status. */
  readonly tags?: readonly string[]
  /** Its pipeline position: `pipelines/generate.yaml:15:11 (call)`. */
  readonly at?: string
}

/** A request, a message of a WebSocket, a job, or an exchange that a stage started by `host.dispatch`. */
export interface ToldExchange extends ToldEnd, ExchangeFacts {
  readonly id: string
  readonly parent?: string
  readonly pipeline: string
  readonly transport?: 'http' | 'ws'
  readonly method?: string
  /** As it was asked for, without the query. */
  readonly path?: string
  /** The pattern of its route: `/v1/models/:model`. */
  readonly route?: string
  /** Version of the configuration that it runs by. */
  readonly configVersion?: string
  /** The incoming trace context. It may be replaced at the start; the new one is then passed on to providers. */
  trace?: TraceContext
  /** The protocol of the pipeline's clients; at the end that of the request, if it has one. */
  protocol?: string
  // This and the following fields are known at the end.
  status?: number
  result?: 'completed' | 'failed' | 'client_closed'
  /** Milliseconds from its start to the first byte, and to the last byte, of its answer. */
  firstByte?: number
  lastByte?: number
  bytes?: number
  /** Id and name of the API key. */
  key?: { readonly id: string; readonly name: string }
  /** Id of the member who asked, or who owns the API key. */
  member?: string
  /** Labels of the API key. */
  tags?: Readonly<Record<string, string>>
  operation?: Operation
  stream?: boolean
  /** The name by which the client asked for a model, or its beginning; absent: it names none that is known. */
  requested?: string
  /**
   * The model that served, or was tried last. `record` is the name of its record, another one if that is a pattern
   * (`openai/*`); if none was tried, the record that the client asked for.
   */
  model?: string
  record?: string
  provider?: string
  /** Tries of providers; 0: none was asked. */
  tries?: number
  /** Fields that were lost in translation, each once. */
  losses?: readonly string[]
  /** Milliseconds from its start until the first, and the last, content of a stream came from its provider. */
  firstContent?: number
  lastContent?: number
  /** Set if its pipeline computes the slot `bill`. */
  bill?: Bill
}

/** A stage of an exchange. */
export interface ToldStage extends ToldEnd {
  /** The exchange id. */
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
  /** Starts at 1. */
  readonly attempt: number
  readonly model: string
  readonly provider: string
}

/**
 * A call of a provider, or of an MCP server, until the last byte of its answer was read. Its end is told when its
 * exchange is over.
 */
export interface ToldCall extends ToldEnd, CallFacts {
  readonly exchange: string
  readonly attempt: number
  readonly provider: string
  /** The provider's type. */
  readonly type: string
  /** Who is behind the provider, as telemetry names it, if its preset says so. */
  readonly vendor?: string
  /** Absent: it is no operation of a model. */
  readonly operation?: Operation
  /** Absent: the provider answers in neutral form. */
  readonly protocol?: string
  /** The provider's name of the model. */
  readonly model?: string
  /** Name of the model's record. Absent: the provider answers in neutral form, or it is no model. */
  readonly record?: string
  /** The trace context for the provider. It may be replaced at the start. */
  trace?: TraceContext
  /** The upstream's status; one of 400 or more is not an error of the call. */
  status?: number
  /** When it began, in milliseconds of `performance.now()`. */
  began?: number
  /** Milliseconds until its headers, or its first event, arrived. */
  firstByte?: number
  /** Whether its answer was not read to the end. */
  cancelled?: boolean
  /** Set by a subscriber at the start: `content` is wanted at the end, so the answer is kept. */
  keeps?: boolean
  // The following fields, and the facts of stages, are known at the end.
  /** Milliseconds until the first, and the last, content of a stream came; on the byte lane, the last bytes. */
  firstContent?: number
  lastContent?: number
}

/** A load of a configuration, including the first. */
export interface ToldReload extends ToldEnd {
  /** Version of the configuration that keeps running meanwhile. */
  readonly previous?: string
  /** Version of the loaded configuration. */
  version?: string
  result?: 'live' | 'refused' | 'unchanged'
  /** Number of findings. */
  findings?: number
}

/** A WebSocket of a client, while it is open. */
export interface ToldSocket extends ToldEnd {
  /** What it carries, as its pipeline says: requests, or one exchange. */
  readonly carries: 'messages' | 'relay'
}
