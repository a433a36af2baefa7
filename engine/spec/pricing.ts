/** USD per million tokens. A part of a bucket without a price of its own has the price of the bucket. */
interface TokenPrices {
  readonly input?: number
  readonly output?: number
  readonly cache_read?: number
  readonly cache_write?: number
  /** Default: `cache_write`. */
  readonly cache_write_1h?: number
  /** Default: `output`, as for all its parts. */
  readonly reasoning?: number
  readonly output_audio?: number
  readonly output_image?: number
  /** Default: `input`. */
  readonly input_audio?: number
  readonly input_image?: number
}

/** Prices in USD. Usage without a price makes the cost unknown. */
export interface Pricing extends TokenPrices {
  /** Each. */
  readonly images?: number
  /** Per million characters. */
  readonly characters?: number
  /** Per second. */
  readonly seconds?: number
  /** Per request, in addition to all other prices. */
  readonly requests?: number
  /** Per web search that the provider made, in addition to all other prices. */
  readonly searches?: number
  /** In ascending order. The highest tier that the input exceeds, including cached tokens, sets the prices of the whole request. */
  readonly tiers?: readonly (TokenPrices & { readonly above_input_tokens: number })[]
}

/**
 * A field by which a client chooses a model, a tier or a paid extra of the provider. Keys with an allowlist or a budget
 * may choose only models that they may use, and only what has a price.
 */
export interface Choice {
  /** Place in a body; `[]` stands for every entry of a list: `service_tier`, `fallbacks[].model`. */
  readonly path: string
  /**
   * `model`: another model, by the provider's name; `tier`: how the provider serves and bills the request; `extra`:
   * something that it bills apart from text.
   */
  readonly chooses: 'model' | 'tier' | 'extra'
  /** The values that choose something; a final `*` matches any rest. Absent: every value but null, false and empty ones. */
  readonly values?: readonly string[]
  /** Values that change nothing in the price. */
  readonly free?: readonly string[]
  /** The price of a model that bills it. Absent: no price does. */
  readonly price?: Exclude<keyof Pricing, 'tiers'>
  /** A field beside it that names the model that bills it. */
  readonly billedBy?: string
  /** Whether the chosen model may answer in place of the requested one. */
  readonly answers?: boolean
  /** Translations pass it on: the trait by which offers of other protocols take it. Tiers pass without one, extras do not. */
  readonly translated?: string
}
