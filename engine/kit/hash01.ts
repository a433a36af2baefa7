import { hash } from 'node:crypto'

/**
 * A number from 0 to 1, excluding 1, that depends on the text alone: the first 48 bits of its SHA-256. So every process
 * draws the same lot for a request, and it can be drawn again later.
 */
export function hash01(text: string): number {
  return hash('sha256', text, 'buffer').readUIntBE(0, 6) / 2 ** 48
}
