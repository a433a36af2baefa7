/**
 * Tokens of one exchange in disjoint buckets, which add up to all processed tokens. Protocols whose counts overlap
 * are split when they are parsed.
 */
export interface Usage {
  /** Input neither read from nor written to a cache. */
  readonly input: number
  /** Audio and image tokens in `input`, if reported. */
  readonly inputAudio?: number
  readonly inputImage?: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The part of `cacheWrite` with a lifetime of one hour, if reported. */
  readonly cacheWriteHour?: number
  /** Visible output without reasoning. */
  readonly output: number
  /** Audio and image tokens in `output`, if reported. */
  readonly outputAudio?: number
  readonly outputImage?: number
  readonly reasoning: number
  /** Web searches that the provider made, if it reported any. They are no tokens. */
  readonly searches?: number
  /** What the provider says that all of this costs, in USD. It takes precedence over prices. */
  readonly cost?: number
}

/** Usage of an exchange other than tokens, as far as it is known. */
export interface Units {
  /** Number of images generated. */
  readonly images?: number
  /** Characters (code points) of a text for speech. */
  readonly characters?: number
  /** Seconds of audio for transcription. */
  readonly seconds?: number
}

/** The usage of an exchange, and its cost. */
export interface Bill extends Units {
  /** Undefined: unknown. */
  readonly tokens: Usage | undefined
  readonly cost: Cost
}

/** The cost of an exchange. */
export interface Cost {
  /** In whole micro-USD; undefined: unknown, which is not the same as free. */
  readonly micros: number | undefined
  /**
   * The basis of the cost: `unasked`, no provider was called, so it is free; `reported`, the provider's reported
   * usage; `estimated`, the part of an incomplete answer that arrived; `unknown`.
   */
  readonly origin: 'unasked' | 'reported' | 'estimated' | 'unknown'
}

/** Facts about an exchange, read from an answer without translating it. */
export interface Metered {
  readonly usage?: Usage
  readonly units?: Units
  /** What the upstream says that it costs, in USD. */
  readonly cost?: number
  /** Usage of further models that the provider used for the answer, by its names for them. */
  readonly further?: readonly { readonly model: string; readonly usage: Usage }[]
  /** The answer is incomplete: usage that its provider did not report is estimated from what arrived. */
  readonly estimated?: boolean
  /** No provider was called: the usage is that of an earlier answer. */
  readonly unasked?: boolean
  /** The model name that the upstream reports. */
  readonly model?: string
  /** Why the model stopped, as a `StopReason` if possible. */
  readonly stop?: string
  /** The upstream's own id of the answer. */
  readonly id?: string
}
