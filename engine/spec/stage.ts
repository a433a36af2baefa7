import type { JSONSchema } from 'json-schema-to-ts'
import type { ConfigOf } from './config.ts'
import type { Logger } from 'pino'
import type { AnyClientCodec, AnyUpstreamCodec, EitherCodec } from './codec.ts'
import type { Catalog } from './catalog.ts'
import type { DispatchOptions, Dispatched } from './dispatch.ts'
import type { Json, JsonObject } from './json.ts'
import type { Ask, Vote } from './signal.ts'
import type { RecordAccess } from './record.ts'
import type { ServiceName, Views } from './service.ts'
import type { SlotName, Slots } from './slots.ts'
import type { ByteBudget } from './source.ts'
import type { TraceContext } from './trace.ts'
import type { Jobs, KeyValue } from './key-value.ts'

/** The part of an exchange that belongs to no slot: its id, its end, and what stages want remembered. */
export interface Scope {
  /** Id of the exchange: the log row's id and the client's `x-request-id`. */
  readonly id: string
  /** Id of the exchange that this one is a part of: of the one whose stage began it by `host.dispatch`. */
  readonly parent?: string | undefined
  /** The trace context that came in with the request, checked; it goes on to providers. */
  readonly trace?: TraceContext | undefined
  /** Aborted when the client leaves or a deadline passes. Made on first use: prefer `onAbort` where a callback does. */
  readonly signal: AbortSignal
  /** Calls back once when the exchange is aborted, at once if it is already; the answer removes the callback. */
  onAbort(listener: (reason: Error) => void): () => void
  /** Calls back once when the exchange is over, however it ended: what it holds can be let go. */
  onEnd?(listener: () => void): void
  /** Number of the current try, from 1. */
  readonly attempt: number
  /** Milliseconds since the request arrived. */
  elapsed(): number
  /** Keeps a fact for the log row's metadata. Never a secret, never prompt text. */
  note(key: string, value: Json): void
  readonly notes: ReadonlyMap<string, Json>
  /** Adds to the time reported under `name` in `server-timing` and in the log row. */
  time(name: string, milliseconds: number): void
  /** In the order in which they were first added to. */
  readonly times: readonly Timing[]
}

/** What took how long. */
export interface Timing {
  readonly name: string
  readonly milliseconds: number
}

/** What the gateway offers to stages and providers. */
export interface Host {
  readonly log: Logger
  /** The pipeline being built: its name and the protocol its clients speak. */
  readonly pipeline: { readonly name: string; readonly protocol?: string }
  /** The models and providers of this configuration. */
  readonly catalog: Catalog
  /** The records of this configuration. */
  readonly records: RecordAccess
  /** Every registered codec. */
  readonly codecs: readonly EitherCodec[]
  /** The codec of a protocol that clients speak. Throws when there is none. */
  codec(protocol: string): AnyClientCodec
  /** The codec of a protocol that upstreams speak. Throws when there is none. */
  upstreamCodec(protocol: string): AnyUpstreamCodec
  /** The path of the first route of each pipeline that speaks a protocol; the others are aliases of it. */
  routes?(protocol: string): readonly string[]
  /** `text` without any secret the gateway knows of. */
  readonly scrub: (text: string) => string
  /** The bytes that all exchanges have in hand. */
  readonly byteBudget: ByteBudget
  /** Values that outlive an exchange. */
  readonly keyValue: KeyValue
  /** Exchanges that go on without a client; undefined without a shared key-value store. */
  readonly jobs?: Jobs
  /**
   * `bytes` as only this gateway can read them again, by the master secret and under the same `context` (AES-256-GCM,
   * NIST SP 800-38D; the key by HKDF, RFC 5869).
   */
  seal(bytes: Uint8Array, context: string): Buffer
  /** The reverse of `seal`; undefined for bytes that were not sealed by this gateway under this context. */
  unseal(sealed: Uint8Array, context: string): Buffer | undefined
  /**
   * Runs another pipeline of this configuration as an exchange of its own: with an id, a scope, a `finally` and a row of
   * its own, whose `parent` is the exchange of `scope`. Resolves when all of that is done, also when it failed. What ends
   * `scope` ends it, too; nobody has to wait for it. A field that names the pipeline has `x-names: 'pipeline'` in its
   * schema, with the slots that are handed over (`x-inputs`) and those that are expected of it (`x-gives`). Never
   * rejects.
   * @param slots what it begins with
   */
  dispatch(
    pipeline: string,
    slots: Readonly<Partial<Slots>>,
    scope: Pick<Scope, 'id' | 'onAbort' | 'trace'>,
    options?: DispatchOptions,
  ): Promise<Dispatched>
  /** Runs a module's default export in the worker pool: structured-cloneable input and output, milliseconds. */
  work<O>(module: URL, input: unknown, deadline: number): Promise<O>
  /**
   * What the first request would have to wait for: done once the gateway serves, when nothing else is to be done, one
   * piece after the other. A piece holds up the event loop, so it takes some milliseconds at most.
   */
  warm?(piece: () => void): void
  /** Asks signals for votes, in the worker pool. One that fails, or is late (milliseconds), is logged and missing. */
  votes(signals: readonly string[], ask: Ask, deadline: number): Promise<ReadonlyMap<string, Vote>>
  /** What outlives a reload, such as connections: made once per key, and closed with the last configuration that used it. */
  keep<T>(key: string, make: () => T, close?: (value: T) => Promise<void> | void): T
  /** State of the process for health reports. */
  readonly status: HostStatus
  /** Version of the product. */
  readonly version: string
}

/** What health reports tell. */
export interface HostStatus {
  readonly draining: boolean
  /** Hash of the running configuration, and the last error when a newer one was refused. */
  readonly config: { readonly version: string; readonly error?: string }
  /** Names of what is not working as it should. */
  readonly degraded: readonly string[]
}

export type Given<N extends SlotName, R extends SlotName> = { readonly [K in N]: Slots[K] } & {
  readonly [K in R]?: Slots[K]
}
export type Gives<P extends SlotName, G extends SlotName = never> = { readonly [K in P]: Slots[K] } & {
  readonly [K in G]?: Slots[K] | undefined
}

/** How an exchange, or one try of an `attempt`, has ended. */
export interface End {
  /** Absent: nothing went wrong. `tags` are the words that `attempt: { on: [...] }` matches. */
  readonly error?: { readonly code: string; readonly message: string; readonly tags: readonly string[] }
}

/**
 * Says what has to be done when the way that the stage stands on has ended: in a try of an `attempt` that fails, at once;
 * else when the exchange is over, however it ended. It is done once, and newest first among what other stages have said.
 * What it throws is logged. What it promises is waited for, for 5 seconds, and until then its configuration stays open.
 */
export type Settle<S> = (work: (slots: S, end: End) => unknown) => void

/** What a stage settles with: the slots it works with, and those of its `settles`, of which `outcome` alone is sure. */
export type Settled<N extends SlotName, O extends SlotName, T> = Given<
  N | Extract<T, 'outcome'>,
  O | Exclude<Extract<T, SlotName>, 'outcome'>
>

/** What a stage with a `body` gets beside its slots: nobody else sees it, and it may hold a password. */
export type Input<B> = undefined extends B
  ? unknown
  : { readonly input: B extends (...given: never[]) => unknown ? JsonObject : ConfigOf<B> }

/**
 * A stage that was built from its configuration: slots in, slots out. It returns what it provides, and nothing else but
 * what it may give. One that declares `settles` is given `settle`, too, and one with a `body` its `input`.
 */
export type Run<
  N extends SlotName,
  R extends SlotName,
  P extends SlotName,
  G extends SlotName = never,
  T extends SlotName | undefined = undefined,
  B = undefined,
> = (
  slots: Given<N, R> & Input<B>,
  scope: Scope,
  ...settle: undefined extends T ? [] : [settle: Settle<Settled<N, R | P | G, T>>]
) => Gives<P, G> | Promise<Gives<P, G>>

/** A JSON Schema, or what makes one where it depends on the configuration. */
export type StageBody<S> = object | ((config: ConfigOf<S>, host: Host) => object)

/** One step of a pipeline. The name is the word in YAML and the name of its file. */
export interface StageParts<
  S,
  N extends SlotName,
  R extends SlotName,
  P extends SlotName,
  G extends SlotName = never,
  T extends SlotName | undefined = undefined,
  U extends ServiceName = never,
  B extends StageBody<S> | undefined = undefined,
> {
  readonly name: string
  readonly summary: string
  /** JSON Schema of its fields; every property has a description, and a default or a place in `required`. */
  readonly config: S
  /** Slots that must surely be there: the check at load refuses a pipeline where they are not. */
  readonly needs: readonly N[]
  /** Slots it reads when they are there. */
  readonly reads?: readonly R[]
  /** Those of `reads` that must surely be there with this configuration. */
  insists?(config: ConfigOf<S>): readonly R[]
  /** Slots it gives whenever it succeeds. */
  readonly provides: readonly P[]
  /** Slots it gives sometimes, such as an answer that was found in a cache: the condition of a `switch` proves that one is there. */
  readonly gives?: readonly G[]
  /**
   * Present: it may take something that has to be given back, with `settle`. Beside the slots it works with, it settles
   * with these: `outcome`, which a try that failed does not have, or what the pipeline gives later on, in its `finally` too.
   */
  readonly settles?: readonly T[]
  /** Services whose views it is built with. */
  readonly uses?: readonly U[]
  /** How long it may take where its pipeline says nothing, such as `1h`; unset: `60s`. */
  readonly timeout?: string
  /** Whether it reads the body of the request: a route whose requests have none cannot use it. */
  readonly readsBody?: boolean
  /**
   * JSON Schema of the body of the request, which the engine reads for it: at most 1 MiB of `application/json`, in a PATCH
   * also of `application/merge-patch+json`. What is wrong with it is told at once (422), before the stage runs. It needs
   * `ingress`, and is the only reader of the body.
   */
  readonly body?: B
  /**
   * Builds it for one place in one pipeline. It keeps the views it needs and calls none of them before `run`: while a
   * configuration is only checked, no service is open.
   */
  build(config: ConfigOf<S>, host: Host, services: Views<U>): Run<N, R, P, G, T, B>
}

/** A declared stage, as a registry holds it: built only with a configuration its own schema accepted. */
export interface AnyStage {
  readonly kind: 'stage'
  readonly name: string
  readonly summary: string
  readonly config: JSONSchema
  readonly needs: readonly SlotName[]
  readonly reads?: readonly SlotName[]
  insists?(config: JsonObject): readonly SlotName[]
  readonly provides: readonly SlotName[]
  readonly gives?: readonly SlotName[]
  readonly settles?: readonly SlotName[]
  readonly uses?: readonly string[]
  readonly timeout?: string
  readonly readsBody?: boolean
  readonly body?: object | ((config: JsonObject, host: Host) => object)
  // oxlint-disable-next-line typescript/no-explicit-any
  build(config: JsonObject, host: Host, services?: object): Run<any, any, any, any, any, any>
}

/** Declares a stage; what it may read and must return follows from `needs`, `reads`, `provides`, `gives` and `settles`. */
export function defineStage<
  const S,
  // Without a default, or the parameters of a function would have no types.
  const B extends StageBody<S> | undefined,
  N extends SlotName = never,
  R extends SlotName = never,
  P extends SlotName = never,
  G extends SlotName = never,
  T extends SlotName | undefined = undefined,
  const U extends ServiceName = never,
>(stage: StageParts<S, N, R, P, G, T, U, B>): AnyStage {
  return { kind: 'stage', ...stage } as AnyStage
}
