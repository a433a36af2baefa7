/** Characters after which a piece ends at the next certain token boundary, and after which it ends anywhere. */
const pieceLength = 8 * 1024
const longestPiece = 16 * 1024
/** Longest run of characters without a token boundary. Merging a run takes time quadratic in its length. */
const runLength = 1024

const wild = 0
const letter = 1
const space = 2
const digit = 3
const mark = 4

/**
 * Classes of the first 128 characters. Line breaks, like everything beyond, are `wild`: the pattern of `o200k_base`
 * may join them with what stands before (`!\n/\n/`), so they continue whatever run they stand in.
 */
const classes = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (/[\r\n]/.test(character)) return wild
  if (/[A-Za-z]/.test(character)) return letter
  if (/\s/.test(character)) return space
  return /[0-9]/.test(character) ? digit : mark
})

const apostrophe = 0x27

/**
 * Splits a text into pieces whose tokens can be counted separately. Ordinary text is split only where the pattern of
 * `o200k_base` has a token boundary (after an ASCII letter, before ASCII that continues no word). A run of more than
 * 1,024 characters, and text without such boundaries, is split anywhere, but never inside a surrogate pair. Joined, the
 * pieces are the text.
 */
export function* pieces(text: string): Generator<string> {
  let start = 0
  let run = 0
  let runClass = wild
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const kind = code < 128 ? (classes[code] as number) : wild
    const continues = kind === wild || runClass === wild || kind === runClass
    const length = at - start
    const due =
      (continues && run >= runLength) ||
      length >= longestPiece ||
      (length >= pieceLength &&
        runClass === letter &&
        !continues &&
        code !== apostrophe &&
        text.charCodeAt(at - 1) < 128)
    if (due && !isLowSurrogate(code)) {
      yield text.slice(start, at)
      start = at
      run = 0
      runClass = wild
    }
    run = continues ? run + 1 : 1
    if (kind !== wild) runClass = kind
  }
  if (start < text.length) yield text.slice(start)
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
