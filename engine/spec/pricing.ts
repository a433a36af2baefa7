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
