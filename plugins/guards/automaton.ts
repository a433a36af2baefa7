/** A place of a word: where it begins, and the index after it. */
type Found = readonly [from: number, to: number]

interface Node {
  readonly next: Map<number, number>
  /** The node of the longest word-beginning that this one ends with. */
  fail: number
  /** Length of the word that ends here; 0: none does. */
  length: number
  /** The next node through `fail` where a word ends; 0: none. */
  out: number
}

/** Finds all words of a list in one pass over a text (Aho and Corasick, 1975). */
export class Automaton {
  readonly #nodes: Node[] = [{ next: new Map(), fail: 0, length: 0, out: 0 }]

  constructor(words: readonly string[]) {
    for (const word of words) this.#add(word)
    this.#link()
  }

  #node(index: number): Node {
    return this.#nodes[index] as Node
  }

  #add(word: string): void {
    let at = 0
    for (let index = 0; index < word.length; index++) {
      const code = word.charCodeAt(index)
      let next = this.#node(at).next.get(code)
      if (next === undefined) {
        next = this.#nodes.push({ next: new Map(), fail: 0, length: 0, out: 0 }) - 1
        this.#node(at).next.set(code, next)
      }
      at = next
    }
    this.#node(at).length = word.length
  }

  #link(): void {
    const queue = [...this.#node(0).next.values()]
    for (let first = 0; first < queue.length; first++) {
      const at = queue[first] as number
      for (const [code, child] of this.#node(at).next) {
        let fail = this.#node(at).fail
        while (fail !== 0 && !this.#node(fail).next.has(code)) fail = this.#node(fail).fail
        const found = this.#node(fail).next.get(code)
        this.#node(child).fail = found === undefined || found === child ? 0 : found
        queue.push(child)
      }
      const node = this.#node(at)
      const { length, out } = this.#node(node.fail)
      node.out = length > 0 ? node.fail : out
    }
  }

  /** The places of words, in the order of their ends; they may overlap. */
  *places(text: string): Generator<Found> {
    let at = 0
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      let next = this.#node(at).next.get(code)
      while (next === undefined && at !== 0) {
        at = this.#node(at).fail
        next = this.#node(at).next.get(code)
      }
      at = next ?? 0
      for (let node = this.#node(at); ; node = this.#node(node.out)) {
        if (node.length > 0) yield [index + 1 - node.length, index + 1]
        if (node.out === 0) break
      }
    }
  }
}
