/**
 * Tokens of one exchange in disjoint buckets: their sum is everything that was processed.
 * A protocol whose counts include one another is split when it is read.
 */
export interface Usage {
  /** Input that was neither read from nor written to a cache. */
  readonly input: number
  /** How much of `input` is audio, and how much is pictures, where it was told. */
  readonly inputAudio?: number
  readonly inputImage?: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** How much of `cacheWrite` is kept for an hour, where it was told. */
  readonly cacheWriteHour?: number
  /** Visible output, without reasoning. */
  readonly output: number
  /** How much of `output` is audio, and how much is pictures, where it was told. */
  readonly outputAudio?: number
  readonly outputImage?: number
  readonly reasoning: number
}

/** What an exchange has used beside tokens, as far as it is known. */
export interface Units {
  /** Pictures that were delivered. */
  readonly images?: number
  /** Characters (code points) of a text that was to be spoken. */
  readonly characters?: number
  /** Seconds of audio that were listened to. */
  readonly seconds?: number
}

/** What an exchange has used, and what that costs. */
export interface Bill extends Units {
  /** Undefined: nobody can say. */
  readonly tokens: Usage | undefined
  readonly cost: Cost
}

/** What an exchange costs. */
export interface Cost {
  /** A whole number of micro-USD; undefined: unknown, which never means that it costs nothing. */
  readonly micros: number | undefined
  /**
   * How it is known: `unasked`, no provider was asked, so that it costs nothing; `reported`, by what the provider said was
   * used; `estimated`, by what arrived of an answer whose end nobody saw; `unknown`.
   */
  readonly origin: 'unasked' | 'reported' | 'estimated' | 'unknown'
}

/** What an exchange turned out to be, read from an answer without translating it. */
export interface Metered {
  readonly usage?: Usage
  readonly units?: Units
  /** Nobody saw the end of the answer: what its provider did not tell of its usage is counted by what arrived. */
  readonly estimated?: boolean
  /** No provider was asked: the usage is that of an answer which was there before. */
  readonly unasked?: boolean
  /** The model the upstream says it used. */
  readonly model?: string
  /** Why the model stopped, in the words of `StopReason` where there is one. */
  readonly stop?: string
  /** The upstream's own id of the answer. */
  readonly id?: string
}
