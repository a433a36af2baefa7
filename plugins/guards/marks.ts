/** Where the marks of a list may begin in a text: by their first three characters, whatever their case. */
export interface Seen {
  /** Indexes in order, of this mark and of others that begin like it. */
  startsOf(mark: string): readonly number[]
  /** How many there are of all marks. */
  readonly count: number
}

/** Letters of either case, and three signs, each with a number below 32; digits have one together, all others none. */
const numbers = new Uint8Array(128)
for (let code = 48; code < 58; code++) numbers[code] = 30
for (let code = 1; code < 27; code++) numbers[code + 64] = numbers[code + 96] = code
for (const [index, sign] of ['-', '_', '.'].entries()) numbers[sign.charCodeAt(0)] = 27 + index

const numberOf = (code: number) => (code < 128 ? (numbers[code] as number) : 0)

/** Looks for many marks in one pass over a text. */
export class Marks {
  /** The number of a mark's beginning, by the numbers of its three characters. */
  readonly #ids = new Uint8Array(1 << 15)

  /** @param marks of at least three characters, of which 255 differ in the first three */
  constructor(marks: readonly string[]) {
    let last = 0
    for (const mark of marks) this.#ids[hashOf(mark)] ||= ++last
  }

  in(text: string): Seen {
    const starts = new Map<number, number[]>()
    let count = 0
    let hash = 0
    for (let at = 0; at < text.length; at++) {
      hash = ((hash << 5) | numberOf(text.charCodeAt(at))) & 0x7fff
      const id = this.#ids[hash] as number
      if (id === 0) continue
      count++
      const some = starts.get(id)
      if (some) some.push(at - 2)
      else starts.set(id, [at - 2])
    }
    return { count, startsOf: (mark) => starts.get(this.#ids[hashOf(mark)] as number) ?? none }
  }
}

const none: readonly number[] = []

function hashOf(mark: string): number {
  return (numberOf(mark.charCodeAt(0)) << 10) | (numberOf(mark.charCodeAt(1)) << 5) | numberOf(mark.charCodeAt(2))
}
