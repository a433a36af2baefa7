import type { Json } from './json.ts'
import type { TraceContext } from './trace.ts'

/** A value as it is kept, and the version that this is of it: another one with every write. */
export interface Held {
  readonly value: Buffer
  readonly version: string
}

/** What the living values of an account are together. */
export interface Used {
  readonly count: number
  readonly bytes: number
}

/**
 * Values that outlive an exchange, by key; each expires. Kept in the shared key-value store where one is configured,
 * else in the database. Every call rejects with `store_unavailable` when the store does not answer in time.
 */
export interface KeyValue {
  /** Whether it is the configured key-value store, which other machines see too. */
  readonly shared: boolean
  get(key: string): Promise<Held | undefined>
  /**
   * Writes a value that lives for `ttl` milliseconds. With `version`, only over that version (`null`: only where there
   * is no value); answers whether it was written. As long as it lives, it counts for `account`, if one is named.
   */
  set(
    key: string,
    value: Uint8Array,
    options: { readonly ttl: number; readonly version?: string | null; readonly account?: string | undefined },
  ): Promise<boolean>
  /** Lets a value live for another `ttl` milliseconds at least; answers whether there is one. It keeps its version. */
  extend(key: string, ttl: number): Promise<boolean>
  /** Answers whether there was a value. */
  delete(key: string): Promise<boolean>
  /** What counts for an account at present, whichever process wrote it. */
  used(account: string): Promise<Used>
}

/** An exchange that goes on without its client: what it has to do, and what it knows. */
export interface Job {
  readonly id: string
  readonly input: Json
  /** The trace context of the exchange that began it. */
  readonly trace?: TraceContext
}

/** Exchanges that run without a client, in whichever process that shares the key-value store is free. */
export interface Jobs {
  /**
   * Has `pipeline` run with the slot `job`, in an exchange of the id `job.id`. When the process that runs it is lost, it
   * is not run again: `finally` alone runs elsewhere, with the error `worker_lost`; so it does, here or elsewhere, when
   * a stage of `finally` failed with an error that may pass. Rejects with `store_unavailable`.
   */
  add(pipeline: string, job: Job): Promise<void>
  /** Ends a job wherever it runs, or keeps it from beginning; its `finally` runs with the error `cancelled`. */
  cancel(id: string): Promise<void>
}
