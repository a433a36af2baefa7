/** Tokens that a text hardly exceeds: one for 3.5 bytes of UTF-8. */
export function estimate(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 3.5)
}
