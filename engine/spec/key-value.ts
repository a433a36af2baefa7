import type { Json } from './json.ts'
import type { TraceContext } from './scope.ts'

/** A stored value with its version, which changes with every write. */
export interface Held {
  readonly value: Buffer
  readonly version: string
}

/** The total of an account's unexpired values. */
export interface Used {
  readonly count: number
  readonly bytes: number
}

/**
 * Values that outlive an exchange, by key; each expires. They are stored in the shared key-value store if one is
 * configured, otherwise in the database. Every call rejects with `store_unavailable` when the store does not respond
 * in time.
 */
export interface KeyValue {
  /** Whether it is the configured key-value store, which other machines share. */
  readonly shared: boolean
  get(key: string): Promise<Held | undefined>
  /**
   * Writes a value that expires after `ttl` milliseconds. With `version`, it only replaces that version (`null`: only
   * if there is no value). Returns whether it was written. Until it expires, it counts towards `account`, if given.
   */
  set(
    key: string,
    value: Uint8Array,
    options: { readonly ttl: number; readonly version?: string | null; readonly account?: string | undefined },
  ): Promise<boolean>
  /**
   * Extends the life of a value to at least `ttl` milliseconds from now. Returns whether the value exists. Its
   * version stays.
   */
  extend(key: string, ttl: number): Promise<boolean>
  /** Returns whether the value existed. */
  delete(key: string): Promise<boolean>
  /** The current total of an account, over all processes. */
  used(account: string): Promise<Used>
}

/** An exchange that continues without its client: its task and its input. */
export interface Job {
  readonly id: string
  readonly input: Json
  /** The trace context of the exchange that started it. */
  readonly trace?: TraceContext
}

/** Runs exchanges without a client, in any process that shares the key-value store. */
export interface Jobs {
  /**
   * Runs `pipeline` with the slot `job`, in an exchange with the id `job.id`. If the process that runs it is lost,
   * the job is not run again: another process runs only its `finally`, with the error `worker_lost`. Its `finally` is
   * also run again, in any process, when one of its stages failed with a temporary error. Rejects with
   * `store_unavailable`.
   */
  add(pipeline: string, job: Job): Promise<void>
  /** Aborts a job in any process, or prevents its start; its `finally` runs with the error `cancelled`. */
  cancel(id: string): Promise<void>
}
