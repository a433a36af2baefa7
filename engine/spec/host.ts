import type { Logger } from 'pino'
import type { Access, RefusedAction } from './access.ts'
import type { Catalog } from './catalog.ts'
import type { AnyClientCodec, AnyUpstreamCodec, EitherCodec } from './codec.ts'
import type { DispatchOptions, Dispatched } from './dispatch.ts'
import type { Jobs, KeyValue } from './key-value.ts'
import type { LegLimits } from './leg.ts'
import type { ProviderType } from './open-provider.ts'
import type { RecordAccess } from './record-access.ts'
import type { Running } from './running.ts'
import type { Scope } from './scope.ts'
import type { Ask, Vote } from './signal.ts'
import type { Ingress, Slots } from './slots.ts'
import type { ByteBudget } from './source.ts'

/** The gateway's interface for stages and providers. */
export interface Host {
  readonly log: Logger
  /** The pipeline being built: its name, and the protocol of its clients. */
  readonly pipeline: {
    readonly name: string
    readonly protocol?: string
    /** The action that a request to it runs; absent: it runs none, or several. */
    readonly actionAt?: (ingress: Ingress) => { readonly name: string; readonly access: Access } | undefined
  }
  /** The models and providers of this configuration. */
  readonly catalog: Catalog
  /** The records of this configuration. */
  readonly records: RecordAccess
  /** Every registered type of provider. */
  readonly providerTypes: readonly ProviderType[]
  /** Every registered codec. */
  readonly codecs: readonly EitherCodec[]
  /** The client codec of a protocol. Throws when there is none. */
  codec(protocol: string): AnyClientCodec
  /** The upstream codec of a protocol. Throws when there is none. */
  upstreamCodec(protocol: string): AnyUpstreamCodec
  /** The path of the first route of each pipeline that speaks a protocol; further routes are aliases of it. */
  routes?(protocol: string): readonly string[]
  /** Returns `text` with all known secrets redacted. */
  readonly scrub: (text: string) => string
  /** How far connections may go; absent: not to link-local addresses, nor to those where clouds serve their machines. */
  readonly bounds?: Bounds
  /** The byte budget of all exchanges. */
  readonly byteBudget: ByteBudget
  /** Limits for sockets to upstreams. */
  readonly sockets: LegLimits
  /** Values that outlive an exchange. */
  readonly keyValue: KeyValue
  /** Exchanges that continue without a client; undefined without a shared key-value store. */
  readonly jobs?: Jobs
  /**
   * Encrypts `bytes` with the master secret, bound to `context`, so that only this gateway can read them (AES-256-GCM,
   * NIST SP 800-38D; key derived by HKDF, RFC 5869).
   */
  seal(bytes: Uint8Array, context: string): Buffer
  /** The reverse of `seal`; undefined for bytes that this gateway did not seal with this context. */
  unseal(sealed: Uint8Array, context: string): Buffer | undefined
  /**
   * Runs another pipeline of this configuration as an exchange of its own, with its own id, scope, `finally` and log
   * row; its `parent` is the exchange of `scope`, if there is one. Resolves when all of this is done, even after a
   * failure; never rejects. Aborting `scope` aborts it, too. The caller need not await it. A configuration field that names the
   * pipeline has `x-names: 'pipeline'` in its schema, with the slots handed over (`x-inputs`) and those expected back
   * (`x-gives`).
   * @param slots the slots with which it starts
   */
  dispatch(
    pipeline: string,
    slots: Readonly<Partial<Slots>>,
    scope: Pick<Scope, 'id' | 'onAbort' | 'trace'> | undefined,
    options?: DispatchOptions,
  ): Promise<Dispatched>
  /**
   * Calls a module's default export in the worker pool. Input and output must be structured-cloneable. Rejects after
   * `deadline` milliseconds; a thread that still runs the task then goes on for `grace` milliseconds (default: 0), and
   * ends.
   */
  work<O>(module: URL, input: unknown, deadline: number, grace?: number): Promise<O>
  /**
   * Queues work that the first request would otherwise have to wait for. It runs while the gateway is idle after its
   * start, one piece at a time. A piece blocks the event loop, so it should take a few milliseconds at most.
   * @param isFirst it only starts something that takes time elsewhere, so it goes before all others
   */
  warm?(piece: () => void, isFirst?: boolean): void
  /**
   * Calls classifiers in the worker pool. One that fails, or misses the deadline (milliseconds), is logged and left
   * out.
   */
  votes(
    signals: readonly string[],
    ask: Ask,
    deadline: number,
  ): ReadonlyMap<string, Vote> | Promise<ReadonlyMap<string, Vote>>
  /** Tells services that somebody was refused a change. Never rejects. */
  readonly refused: (refused: RefusedAction) => Promise<void>
  /**
   * A value that outlives a reload, such as connections: created once per key, closed with the last configuration that
   * used it.
   */
  keep<T>(key: string, make: () => T, close?: (value: T) => Promise<void> | void): T
  /** The running configuration, for those who show or reload it. */
  readonly running: Running
  /** State of the process for health reports. */
  readonly status: HostStatus
  /** Version of the product. */
  readonly version: string
}

/**
 * The limits of a provider that is not declared in the file, and not allowed private addresses. The kit's `openUpstream`
 * heeds them.
 */
export interface Bounds {
  /** `public`: to public addresses. `private`: also into private networks. `any`: everywhere. */
  readonly reach: 'public' | 'private' | 'any'
  /** Notes an address that the provider will connect to, so that it can be checked before the provider is stored. */
  readonly note?: (url: URL) => void
}

/** The contents of health reports. */
export interface HostStatus {
  readonly draining: boolean
  /** Not all processes of the gateway have served yet since its start. */
  readonly starting: boolean
  /** Hash of the running configuration, and the error if the latest one was refused. */
  readonly config: { readonly version: string; readonly error?: string }
  /** Names of degraded components. */
  readonly degraded: readonly string[]
}
