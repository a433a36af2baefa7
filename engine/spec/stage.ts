import type { JSONSchema } from 'json-schema-to-ts'
import type { ConfigOf } from './config.ts'
import type { Host } from './host.ts'
import type { JsonObject } from './json.ts'
import type { Scope } from './scope.ts'
import type { ServiceName, Views } from './service.ts'
import type { SlotName, Slots } from './slots.ts'

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
