/**
 * A suggestion of the known word nearest to `word`, as the end of a sentence: `; did you mean "limit"?`, or an empty
 * text if none is near. A word is near if few letters differ, or if it is the only one that begins with `word`.
 */
export function didYouMean(word: string, known: Iterable<string>): string {
  const words = [...known]
  let best: string | undefined
  let least = Math.max(1, Math.round(word.length * 0.4)) + 1
  for (const candidate of words) {
    // The distance is at least the difference in length.
    if (Math.abs(candidate.length - word.length) >= least) continue
    const apart = distance(word.toLowerCase(), candidate.toLowerCase())
    if (apart >= least) continue
    least = apart
    best = candidate
  }
  const beginning = word.length < 2 ? [] : words.filter((other) => other.toLowerCase().startsWith(word.toLowerCase()))
  const found = best ?? (beginning.length === 1 ? beginning[0] : undefined)
  return found === undefined ? '' : `; did you mean "${found}"?`
}

/**
 * The edit distance of two words: insertions, deletions, replacements and swapped neighbours (optimal string
 * alignment).
 */
function distance(left: string, right: string): number {
  let before: number[] = []
  let above = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1]
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current[column] = Math.min(
        (above[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      )
    }
    before = above
    above = current
  }
  return above[right.length] ?? 0
}
