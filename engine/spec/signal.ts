import type { JsonObject } from './json.ts'

/** The input of a classifier: bounded text and facts that can be cloned. */
export interface Ask {
  /** The text to classify, truncated by the caller. */
  readonly text: string
  /** Counts and flags that describe the request. */
  readonly facts: JsonObject
}

/** The result of one classifier. */
export interface Vote {
  /** From 0 (any model suffices) to 1 (only the best). */
  readonly complexity: number
  /** How much the best model gains over any, on the scale of complexity; absent: it counts as complex as it is. */
  readonly benefit?: number
  /** From 0 (abstains) to 1. */
  readonly confidence: number
  /** Short reasons for the log. Never prompt text. */
  readonly reasons: readonly string[]
  /** What it measured, for the record of the decision, from which it can be trained again. */
  readonly features?: readonly number[]
  /** Version of the weights with which it judged. */
  readonly version?: string
}

/**
 * A classifier of requests. The default export of its module is a pure function `(ask: Ask) => Vote`. It runs in the
 * worker pool, so it may be slow: a request waits for it only until the caller's deadline.
 */
export interface AnySignal {
  readonly kind: 'signal'
  readonly name: string
  readonly summary: string
  /** URL of the module, best created by `new URL('./<name>.ts', import.meta.url)`. */
  readonly module: URL
  /**
   * Characters of a text up to which it takes less of the event loop's time than to be passed to a thread and back, some
   * 60 microseconds. It then runs on the event loop. Absent: never.
   */
  readonly quick?: number
}

/** Declares a signal. */
export function defineSignal(signal: Omit<AnySignal, 'kind'>): AnySignal {
  return { kind: 'signal', ...signal }
}
