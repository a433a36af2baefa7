/** The known word nearest to `word`, as the end of a sentence: `; did you mean "limit"?`, or nothing when none is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  let best: string | undefined
  let least = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of known) {
    // As many letters have to be added or left out.
    if (Math.abs(candidate.length - word.length) >= least) continue
    const apart = distance(word.toLowerCase(), candidate.toLowerCase())
    if (apart >= least) continue
    least = apart
    best = candidate
  }
  return best === undefined ? '' : `; did you mean "${best}"?`
}

/** Edits between two words: insertions, deletions, replacements and swapped neighbours (optimal string alignment). */
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
