import { parseJson } from '../json/parse.ts'
import { GatewayError } from '../spec/error.ts'

/** Deepest nesting a body may have; beyond it validators and walkers would overflow their stack. */
export const depthLimit = 128

/** Where the value of a top-level field stands in the bytes of a JSON text. */
export interface Token {
  readonly start: number
  readonly end: number
}

/** The value of a client's JSON text. Throws `invalid_json`. */
export function clientJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw new GatewayError('invalid_json', { reason: 'it cannot be parsed' }, { cause })
  }
}

/** Bytes that JSON is made of. */
export const quote = 0x22
export const backslash = 0x5c
export const comma = 0x2c
export const colon = 0x3a
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const openBracket = 0x5b
export const closeBracket = 0x5d

export function tooDeep(): GatewayError {
  return new GatewayError('invalid_json', { reason: `it is nested deeper than ${depthLimit} levels` })
}

/** Bytes of a string that are looked at one by one: calling the native search costs as much as some thirty of them. */
const shortString = 32

/** Index after the closing quote of the string that opens at `start`. */
export function stringEnd(bytes: Buffer, start: number): number {
  const near = Math.min(start + shortString, bytes.length)
  let end = start
  while (++end < near && bytes[end] !== backslash) if (bytes[end] === quote) return end + 1
  end--
  for (;;) {
    end = bytes.indexOf(quote, end + 1)
    if (end < 0) return bytes.length
    let slashes = 0
    while (bytes[end - 1 - slashes] === backslash) slashes++
    if (slashes % 2 === 0) return end + 1
  }
}
