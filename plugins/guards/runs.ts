/** Whether a UTF-16 code unit belongs to a set. */
export type Among = (code: number) => boolean

const digit: Among = (code) => code >= 48 && code <= 57
const upper: Among = (code) => code >= 65 && code <= 90
const lower: Among = (code) => code >= 97 && code <= 122

export const among = {
  digit,
  upper,
  letter: (code: number): boolean => upper(code) || lower(code),
  alphanumeric: (code: number): boolean => digit(code) || upper(code) || lower(code),
  hex: (code: number): boolean => digit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102),
  /** Letters and digits of any script, as far as one code unit tells: a surrogate counts as a letter. */
  word: (code: number): boolean =>
    code < 128
      ? digit(code) || upper(code) || lower(code)
      : /^[\p{L}\p{N}\p{M}\p{Cs}]$/u.test(String.fromCharCode(code)),
  /** base64url, in which keys and tokens are written. */
  token: (code: number): boolean => digit(code) || upper(code) || lower(code) || code === 45 || code === 95,
} as const satisfies Readonly<Record<string, Among>>

/** Index after the run of such characters that begins at an index, at most `most` of them. */
export function runAfter(text: string, from: number, is: Among, most = Infinity): number {
  const last = Math.min(text.length, from + most)
  let at = from
  while (at < last && is(text.charCodeAt(at))) at++
  return at
}

/** Index at which the run of such characters begins that ends before an index, at most `most` of them. */
export function runBefore(text: string, until: number, is: Among, most = Infinity): number {
  const first = Math.max(0, until - most)
  let at = until
  while (at > first && is(text.charCodeAt(at - 1))) at--
  return at
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
