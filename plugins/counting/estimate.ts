/** Bytes of UTF-8 that make a token, where a text shall hardly have more of them. */
const bytesPerToken = 3.5

/** Tokens that a text of so many bytes of UTF-8 hardly exceeds. */
export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken)
}

/** Tokens that a text hardly exceeds. */
export function estimate(text: string): number {
  return tokensOf(Buffer.byteLength(text))
}
