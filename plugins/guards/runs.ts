/** Characters that are of one kind wherever values are looked for. Each kind is a bit. */
const kinds = [
  '0123456789',
  'ABCDEF',
  'GHIJKLMNOPQRSTUVWXYZ',
  'abcdef',
  'ghijklmnopqrstuvwxyz',
  ...'-_.+/=:%\' ()"'.split(''),
]

/** A set of characters: the bits of their kinds. */
export type Among = number

const bits = new Int32Array(128)
for (const [bit, letters] of kinds.entries()) for (const letter of letters) bits[letter.charCodeAt(0)] = 1 << bit

/** The set of the characters of a text, with others of their kinds. */
const setOf = (text: string): Among =>
  text.split('').reduce((set, letter) => set | (bits[letter.charCodeAt(0)] ?? 0), 0)

/** Letters and digits beyond ASCII. */
const beyond = 1 << 30
const alphanumeric = setOf('0AZaz')

export const among = {
  digit: setOf('0'),
  upper: setOf('AZ'),
  letter: setOf('AZaz'),
  alphanumeric,
  hex: setOf('0Aa'),
  /** Letters and digits of any script, as far as one code unit tells: a surrogate counts as a letter. */
  word: alphanumeric | beyond,
  /** base64url, in which keys and tokens are written. */
  token: alphanumeric | setOf('-_'),
  /** These, and all of their kinds. */
  with: (set: Among, more: string): Among => set | setOf(more),
} as const

/** Whether a code unit, or `NaN` beyond a text, belongs to a set. */
export function isAmong(code: number, set: Among): boolean {
  return code < 128 ? ((bits[code] as number) & set) !== 0 : set >= beyond && isLetter(code)
}

/** What is known of code units beyond ASCII: 1: no letter, 2: a letter. */
const known = new Uint8Array(65_536)

function isLetter(code: number): boolean {
  if (known[code] === 0) known[code] = /^[\p{L}\p{N}\p{M}\p{Cs}]$/u.test(String.fromCharCode(code)) ? 2 : 1
  return known[code] === 2
}

/** Index after the run of such characters that begins at an index, at most `most` of them. */
export function runAfter(text: string, from: number, set: Among, most = Infinity): number {
  const last = Math.min(text.length, from + most)
  let at = from
  while (at < last && isAmong(text.charCodeAt(at), set)) at++
  return at
}

/** Index at which the run of such characters begins that ends before an index, at most `most` of them. */
export function runBefore(text: string, until: number, set: Among, most = Infinity): number {
  const first = Math.max(0, until - most)
  let at = until
  while (at > first && isAmong(text.charCodeAt(at - 1), set)) at--
  return at
}

/** The indexes at which runs of digits begin. */
export function numbersIn(text: string): readonly number[] {
  const found: number[] = []
  let isWithin = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isDigit = code <= 57 && code >= 48
    if (isDigit && !isWithin) found.push(at)
    isWithin = isDigit
  }
  return found
}

/** Every index at which a text contains another. */
export function* indexesOf(text: string, part: string): Generator<number> {
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) yield at
}

/** A place in one text. */
export interface Place {
  readonly start: number
  readonly end: number
  readonly entity: string
}

/** The places without those that others overlap: the first counts, of several that begin there the longest. */
export function apart(places: readonly Place[]): readonly Place[] {
  if (places.length < 2) return places
  const kept: Place[] = []
  for (const place of places.toSorted((left, right) => left.start - right.start || right.end - left.end))
    if (place.start >= (kept.at(-1)?.end ?? 0)) kept.push(place)
  return kept
}

/** What is searched for in texts. `Seen` is what one pass over a text finds for all entities. */
export interface Searched<Seen> {
  readonly see: (text: string) => Seen
  /** How many places there are at which a value may be. */
  readonly sizeOf: (seen: Seen) => number
  /** What finds the values of each entity, and how many characters the longest of them has. */
  readonly finders: Readonly<Record<string, Finder<Seen>>>
}

interface Finder<Seen> {
  readonly find: (text: string, seen: Seen) => Iterable<Place>
  readonly longest: number
}
