import type { JsonObject } from './json.ts'

/** What is known of a request when it is classified: bounded text and facts, nothing that cannot be cloned. */
export interface Ask {
  /** The text to judge, cut to a bound by whoever asks. */
  readonly text: string
  /** Counts and flags of the request's shape. */
  readonly facts: JsonObject
}

/** One signal's opinion. */
export interface Vote {
  /** From 0 (any model will do) to 1 (only the best). */
  readonly complexity: number
  /** From 0 (abstains) to 1. */
  readonly confidence: number
  /** Short reasons for the log. Never prompt text. */
  readonly reasons: readonly string[]
}

/**
 * A classifier of requests. Its module's default export is a pure function `(ask: Ask) => Vote`; it runs in the
 * worker pool, so it may take its time and cannot hold up a request beyond the deadline of whoever asks.
 */
export interface AnySignal {
  readonly kind: 'signal'
  readonly name: string
  readonly summary: string
  /** Address of the module, best made by `new URL('./<name>.ts', import.meta.url)`. */
  readonly module: URL
}

/** Declares a signal. */
export function defineSignal(signal: Omit<AnySignal, 'kind'>): AnySignal {
  return { kind: 'signal', ...signal }
}
