/**
 * Tokens of one exchange in disjoint buckets: their sum is everything that was processed.
 * A protocol whose counts include one another is split when it is read.
 */
export interface Usage {
  /** Input that was neither read from nor written to a cache. */
  readonly input: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** How much of `cacheWrite` is kept for an hour, where it was told. */
  readonly cacheWriteHour?: number
  /** Visible output, without reasoning. */
  readonly output: number
  readonly reasoning: number
}

/** What an exchange turned out to be, read from an answer without translating it. */
export interface Metered {
  readonly usage?: Usage
  /** Nobody saw the end of the answer: what its provider did not tell of its usage is counted by what arrived. */
  readonly estimated?: boolean
  /** The model the upstream says it used. */
  readonly model?: string
  /** Why the model stopped, in the words of `StopReason` where there is one. */
  readonly stop?: string
  /** The upstream's own id of the answer. */
  readonly id?: string
}
