import type { Logger } from 'pino'
import type { Catalog } from './catalog.ts'
import type { AnyClientCodec, AnyUpstreamCodec, EitherCodec } from './codec.ts'
import type { DispatchOptions, Dispatched } from './dispatch.ts'
import type { Jobs, KeyValue } from './key-value.ts'
import type { RecordAccess } from './record.ts'
import type { Scope } from './scope.ts'
import type { Ask, Vote } from './signal.ts'
import type { Slots } from './slots.ts'
import type { ByteBudget } from './source.ts'

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
