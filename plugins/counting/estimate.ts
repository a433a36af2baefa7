/** Bytes of UTF-8 per token; low enough that an estimate is rarely too low. */
const bytesPerToken = 3.5

/** Upper estimate of the tokens of this many bytes of UTF-8. */
export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

/** Upper estimate of the tokens of a text. */
export function estimate(text: string): number {
  return tokensOf(Buffer.byteLength(text))
}
