import type { JSONSchema } from 'json-schema-to-ts'
import type { AnyClientCodec } from './codec.ts'
import type { ConfigOf, Stability } from './config.ts'
import type { Host } from './host.ts'
import type { JsonObject } from './json.ts'
import type { TypedRecords } from './record.ts'
import type { Scope } from './scope.ts'
import type { SectionReport, ServiceName, Views } from './service.ts'
import type { SlotName, Slots } from './slots.ts'

export type Given<N extends SlotName, R extends SlotName> = { readonly [K in N]: Slots[K] } & {
  readonly [K in R]?: Slots[K]
}
export type Gives<P extends SlotName, G extends SlotName = never> = { readonly [K in P]: Slots[K] } & {
  readonly [K in G]?: Slots[K] | undefined
}

/** How an exchange, or one try of an `attempt`, ended. */
export interface End {
  /** Absent: it succeeded. `tags` are the values that `attempt: { on: [...] }` matches. */
  readonly error?: { readonly code: string; readonly message: string; readonly tags: readonly string[] }
}

/**
 * Registers work for the end of the path on which the stage runs: the end of a failed try of an `attempt`, otherwise
 * the end of the exchange. It runs exactly once, in reverse order of registration. Errors are logged. Its promise is
 * awaited for up to 5 seconds; until then its configuration stays open.
 */
export type Settle<S> = (work: (slots: S, end: End) => unknown) => void

/**
 * The slots at that time: those the stage works with, and those of its `settles`, of which only `outcome` is always
 * set.
 */
export type Settled<N extends SlotName, O extends SlotName, T> = Given<
  N | Extract<T, 'outcome'>,
  O | Exclude<Extract<T, SlotName>, 'outcome'>
>

/**
 * The validated body for a stage with a `body` schema. No other component sees it, because it may contain a password.
 */
export type Input<B> = undefined extends B
  ? unknown
  : { readonly input: B extends (...given: never[]) => unknown ? JsonObject : ConfigOf<B> }

/**
 * A built stage: slots in, slots out. It returns the slots it provides, and optionally those it may give. A stage
 * that declares `settles` also gets `settle`; one with a `body` also gets `input`.
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

/**
 * What a stage does when the exchange failed before it was reached: it may add headers to the answer. It gets the slots
 * that are set by then. Errors are logged.
 */
export type Unreached<N extends SlotName, R extends SlotName> = (slots: Given<never, N | R>, scope: Scope) => unknown

/**
 * Something that a pipeline must do because a stage runs: another stage pays it. `sluice check` proves that it is paid
 * on every path to the stage, and however the exchange ends. A pipeline does without it by `without: [<duty>]`.
 */
export interface Duty {
  /** Its name, which `pays` of other stages and `without` of pipelines use. */
  readonly duty: string
  /**
   * Where it is paid: `before` the stage; `after` it, in the same `attempt` if it is in one, when it has succeeded; or in
   * `finally`, which also runs when it has failed. Absent: before it or in `finally`.
   */
  readonly at?: 'before' | 'after' | 'finally'
  /**
   * The slot that it is about. It is owed again when a stage gives the slot without needing it, that is, gives another
   * value than one made of what was there. `model` is given anew by every `attempt`.
   */
  readonly of?: SlotName
  /** Duties that are paid later than this one where `finally` pays both. Duties of one list are paid in its order. */
  readonly ahead?: readonly string[]
  /** Another duty of the list: a pipeline that does without that one owes this one neither. */
  readonly with?: string
  /** Only a warning, and only while the settings of this service differ from its defaults. */
  readonly while?: ServiceName
  /** Only a warning, unless this names what would be missed, such as a record: `the guard "pii"`. */
  unless?(records: TypedRecords): string | undefined
}

/** A duty that a stage pays; with `given`, only where its configuration has these values. */
export type Payment = string | { readonly duty: string; readonly given: JsonObject }

/** A JSON Schema, or a function that creates one from the configuration. */
export type StageBody<S> = object | ((config: ConfigOf<S>, host: Host) => object)

/** What a configuration has around a stage, as the check of the stage sees it. */
export interface KnownServices {
  /** The names of the services whose `uses` contains this one. */
  readonly usersOf: (service: ServiceName) => readonly string[]
  /** The codecs of the clients whose requests it may see: that of its pipeline's protocol, or all if it names none. */
  readonly codecs: readonly AnyClientCodec[]
}

/** One step of a pipeline. Its name is the word in YAML and the name of its file. */
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
  /** Default: `beta`. */
  readonly stability?: Stability
  /** JSON Schema of its fields; every property has a description, and a default or a place in `required`. */
  readonly config: S
  /** Slots that must be set: loading refuses a pipeline in which one may be missing. */
  readonly needs: readonly N[]
  /** Slots that it reads if they are set. */
  readonly reads?: readonly R[]
  /** Those of `reads` that must be set with this configuration. */
  insists?(config: ConfigOf<S>): readonly R[]
  /** Slots that it gives whenever it succeeds. */
  readonly provides: readonly P[]
  /** Slots that it may give, such as an answer from a cache; the condition of a `switch` can prove that one is set. */
  readonly gives?: readonly G[]
  /** Those of `gives` that it gives whenever it succeeds with this configuration. */
  assures?(config: ConfigOf<S>): readonly G[]
  /**
   * Present: the stage may reserve something, and releases it with `settle`. In addition to its own slots, it then
   * gets these: `outcome`, which a failed try does not have, or slots given later in the pipeline, also in its
   * `finally`.
   */
  readonly settles?: readonly T[]
  /**
   * What a pipeline owes once it runs the stage. A text is the name of a duty that is paid before the stage or in
   * `finally`. Those that are paid in `finally` are paid in this order.
   */
  readonly owes?: readonly (string | Duty)[]
  /** The duties that it pays whenever it succeeds. */
  readonly pays?: readonly Payment[]
  /** Services whose views it gets. */
  readonly uses?: readonly U[]
  /** Its timeout if the pipeline sets none, such as `1h`; default: `60s`. */
  readonly timeout?: string
  /**
   * Whether it only refuses requests by their headers and address, and so may stand before the stage that authenticates
   * the client.
   */
  readonly guards?: boolean
  /**
   * Stages that must not have run before it, such as the one that checks what it changes, or itself. `check` warns of a
   * path on which one has.
   */
  readonly notAfter?: readonly string[]
  /** Whether it never succeeds, so that its path ends with it: nothing that follows is reached. In `finally` it ends nothing. */
  readonly ends?: boolean
  /** Whether it reads the body of the request: it cannot be used on routes whose requests have none. */
  readonly readsBody?: boolean
  /**
   * JSON Schema of the request body, which the engine reads for it: at most `bodyLimit` of `application/json`, in a PATCH
   * also `application/merge-patch+json`. An invalid body is refused (422) with all its mistakes before the stage
   * runs. The stage needs `ingress`, and is the only reader of the body.
   */
  readonly body?: B
  /** Maximum bytes of that body; default: 1 MiB. */
  readonly bodyLimit?: number
  /**
   * Checks what the schema cannot express, for a configuration that the schema accepts. It also runs where nothing is
   * built.
   */
  check?(config: ConfigOf<S>, services: KnownServices, report: SectionReport): void
  /**
   * Builds the stage for one place in one pipeline. It may keep views but must not call them before `run`: services
   * are closed while a configuration is only checked.
   */
  build(config: ConfigOf<S>, host: Host, services: Views<U>): Run<N, R, P, G, T, B>
  /**
   * Present: the stage adds to the answer of an exchange that failed before it was reached. The error is answered when
   * its promise is settled, or after 5 seconds. Not for stages in an `attempt` or in `finally`.
   */
  unreached?(config: ConfigOf<S>, host: Host, services: Views<U>): Unreached<N, R>
}

/** A declared stage in a registry: built only with a configuration that its schema accepted. */
export interface AnyStage {
  readonly kind: 'stage'
  readonly name: string
  readonly summary: string
  readonly stability?: Stability
  readonly config: JSONSchema
  readonly needs: readonly SlotName[]
  readonly reads?: readonly SlotName[]
  insists?(config: JsonObject): readonly SlotName[]
  readonly provides: readonly SlotName[]
  readonly gives?: readonly SlotName[]
  assures?(config: JsonObject): readonly SlotName[]
  readonly settles?: readonly SlotName[]
  readonly owes?: readonly (string | Duty)[]
  readonly pays?: readonly Payment[]
  readonly uses?: readonly string[]
  readonly timeout?: string
  readonly guards?: boolean
  readonly notAfter?: readonly string[]
  readonly ends?: boolean
  readonly readsBody?: boolean
  readonly body?: object | ((config: JsonObject, host: Host) => object)
  readonly bodyLimit?: number
  check?(config: JsonObject, services: KnownServices, report: SectionReport): void
  // oxlint-disable-next-line typescript/no-explicit-any
  build(config: JsonObject, host: Host, services?: object): Run<any, any, any, any, any, any>
  // oxlint-disable-next-line typescript/no-explicit-any
  unreached?(config: JsonObject, host: Host, services?: object): Unreached<any, any>
}

/**
 * Declares a stage. What it may read and must return follows from `needs`, `reads`, `provides`, `gives` and
 * `settles`.
 */
export function defineStage<
  const S,
  // No default: with one, the parameters of a function would have no types.
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
