/**
 * Times in milliseconds as counts, which can be added up. The times below 16 ms are counted one by one. Longer ones share
 * a count with times that differ by less than a sixteenth. A count has the number of its block and its place there: block
 * 0 holds the times 0 to 15, and every later block the times up to twice the end of the block before.
 */
const PLACES = 16
const BLOCKS = 25

/** The end of the last block, three days. Longer times are counted as this one. */
const LONGEST = PLACES * 2 ** (BLOCKS - 1) - 1

/** What is measured: a column of `requests`, and its number in the table of counts. */
export const kinds = { duration: 0, first_byte: 1 } as const

export type Kind = keyof typeof kinds

/** The columns of a block's counts. */
export const places = Array.from({ length: PLACES }, (_, place) => `n${place}`)

/** SQL of a time that has a block. */
export function bounded(column: string): string {
  return `case when ${column} < ${LONGEST} then ${column} else ${LONGEST} end`
}

const blocks = Array.from({ length: BLOCKS - 1 }, (_, block) => `when ms < ${PLACES * 2 ** block} then ${block}`)

/** SQL of the block of the time `ms`, and of the place in `block` of `ms`. */
export const blockOf = `case ${blocks.join(' ')} else ${BLOCKS - 1} end`
export const placeOf = `case block when 0 then ms else (ms >> (block - 1)) - ${PLACES} end`

/** How often each time was measured. */
export class Latency {
  /** Counts by the number of their place, from that of block 0 on. */
  readonly #counts = new Map<number, number>()
  #total = 0

  /** Adds the counts of a block, in the order of its places. */
  add(block: number, counts: readonly number[]): void {
    for (const [place, count] of counts.entries()) {
      if (count === 0) continue
      const number = block * PLACES + place
      this.#counts.set(number, (this.#counts.get(number) ?? 0) + count)
      this.#total += count
    }
  }

  /**
   * The shortest time that at least this share of all times does not exceed (nearest rank): exact up to 32 ms, otherwise
   * to 3 %. Null: nothing was measured.
   */
  percentile(share: number): number | null {
    let left = Math.max(Math.ceil(share * this.#total), 1)
    for (const [number, count] of [...this.#counts].toSorted(([one], [other]) => one - other)) {
      left -= count
      if (left <= 0) return timeAt(Math.floor(number / PLACES), number % PLACES)
    }
    return null
  }
}

/** The middle of the times that share a count. */
function timeAt(block: number, place: number): number {
  if (block === 0) return place
  const width = 2 ** (block - 1)
  return (PLACES + place) * width + Math.floor(width / 2)
}
