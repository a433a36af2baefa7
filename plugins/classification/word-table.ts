/** Numbers of words, found where the words stand in a text: a text for each word would be most of what reading allocates. */
export class WordTable {
  readonly #words: readonly string[]
  readonly #numbers: readonly number[]
  /** Places in the lists, from 1, by the hash of the word; 0: none. Half of it is free. */
  readonly #places: Int32Array
  readonly #longest: number

  constructor(numbers: ReadonlyMap<string, number>) {
    this.#words = [...numbers.keys()]
    this.#numbers = [...numbers.values()]
    this.#longest = Math.max(...this.#words.map(({ length }) => length))
    this.#places = new Int32Array(2 ** Math.ceil(Math.log2(2 * this.#words.length)))
    for (const [index, word] of this.#words.entries()) {
      let place = hash(word, 0, word.length, 0)
      while (this.#places[place & (this.#places.length - 1)] !== 0) place++
      this.#places[place & (this.#places.length - 1)] = index + 1
    }
  }

  /**
   * The number of the word between two places of a text; undefined: it is not in the table.
   * @param folds whether capitals of ASCII count as small letters
   */
  find(text: string, start: number, end: number, folds = false): number | undefined {
    if (end - start > this.#longest) return undefined
    const shift = folds ? 32 : 0
    for (let place = hash(text, start, end, shift); ; place++) {
      const index = (this.#places[place & (this.#places.length - 1)] ?? 0) - 1
      if (index < 0) return undefined
      if (isAt(text, start, end, this.#words[index] ?? '', shift)) return this.#numbers[index]
    }
  }
}

function hash(text: string, start: number, end: number, shift: number): number {
  let sum = 0
  for (let at = start; at < end; at++) sum = (Math.imul(sum, 31) + codeAt(text, at, shift)) & 0xff_ff_ff
  return sum
}

function isAt(text: string, start: number, end: number, word: string, shift: number): boolean {
  if (end - start !== word.length) return false
  for (let at = 0; at < word.length; at++) if (codeAt(text, start + at, shift) !== word.charCodeAt(at)) return false
  return true
}

/** A character, to which `shift` is added if it is a capital of ASCII. */
function codeAt(text: string, at: number, shift: number): number {
  const code = text.charCodeAt(at)
  return code >= 65 && code <= 90 ? code + shift : code
}
