/** What part of a regular expression can match, as far as its running time goes. */
type Node =
  | { readonly kind: 'character'; readonly set: ReadonlySet<string> }
  | { readonly kind: 'assertion'; readonly begin: boolean; readonly body?: Node }
  | { readonly kind: 'sequence' | 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly body: Node; readonly least: number; readonly most: number }

/** Characters that stand for all: those of Latin 1, and three beyond. */
const alphabet = [...Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)), '\u0100', '\u2028', '\u3042']

/**
 * Why the time that an expression takes may grow faster than the text it is tried on; undefined: it does not.
 *
 * - A search tries every place of a text. A run without an upper bound, after which something can still fail, is read
 *   again from each of them. So it must have a bound, or be the last that can fail.
 * - An expression that is tried at one place may have such runs, but none within another, and no two of them may read the
 *   same text one after the other (the pairs of states that ambiguity analysis of automata looks for).
 */
export function superlinear(source: string, flags: string): string | undefined {
  const root = new Reader(source, flags).read()
  for (const variant of variantsOf(root)) {
    const positions = new Positions(variant)
    const unsafe = positions.runs.filter((run) => !run.safe)
    if (!flags.includes('y') && !(begins(variant) && !flags.includes('m'))) {
      if (unsafe[0]) return 'it is a search, and something can fail after a run that has no upper bound'
      continue
    }
    if (unsafe.some(({ nested }) => nested)) return 'a run without an upper bound stands within another'
    if (positions.ambiguous()) return 'two runs without an upper bound can read the same text'
  }
  return undefined
}

/** Whether every way through a node starts at the beginning of the text. */
function begins(node: Node): boolean {
  if (node.kind === 'assertion') return node.begin
  if (node.kind === 'choice') return node.nodes.every(begins)
  return node.kind === 'sequence' && node.nodes[0] !== undefined && begins(node.nodes[0])
}

/** The expression without what it looks ahead at, and each of these as the last thing that is read. */
function variantsOf(root: Node): Node[] {
  const variants: Node[] = [root]
  const look = (node: Node, before: readonly Node[]) => {
    if (node.kind === 'assertion' && node.body)
      variants.push({ kind: 'sequence', nodes: [...before, node.body, { kind: 'assertion', begin: false }] })
    if (node.kind === 'sequence') node.nodes.forEach((part, at) => look(part, [...before, ...node.nodes.slice(0, at)]))
    if (node.kind === 'choice') node.nodes.forEach((part) => look(part, before))
    if (node.kind === 'repeat') look(node.body, before)
  }
  look(root, [])
  return variants
}

/** A place in the expression that reads one character. */
interface Position {
  readonly set: ReadonlySet<string>
  readonly next: Set<Position>
}

interface Ends {
  readonly first: readonly Position[]
  readonly last: readonly Position[]
  /** Positions after which nothing can fail any more, as far as this node goes. */
  readonly sure: readonly Position[]
  readonly empty: boolean
  /** It can be passed over without a look at anything. */
  readonly passes: boolean
}

/** A run without an upper bound. */
interface Run {
  readonly positions: readonly Position[]
  readonly nested: boolean
  safe: boolean
}

/** The positions of an expression and what may follow each (Glushkov's automaton). */
class Positions {
  readonly runs: Run[] = []
  readonly #marked = new Map<Run, readonly Position[]>()
  #depth = 0

  constructor(root: Node) {
    const sure = new Set(this.#ends(root).sure)
    for (const run of this.runs) run.safe = (this.#marked.get(run) ?? []).every((position) => sure.has(position))
  }

  /** Whether one text leads from a run to itself and also to another run, and from that to itself, which can then fail. */
  ambiguous(): boolean {
    const loops = this.runs.flatMap(({ positions }) => positions)
    const failing = this.runs.filter(({ safe }) => !safe).flatMap(({ positions }) => positions)
    return loops.some((from) => failing.some((to) => from !== to && meet(from, to)))
  }

  #ends(node: Node): Ends {
    switch (node.kind) {
      case 'character': {
        const position = { set: node.set, next: new Set<Position>() }
        return { first: [position], last: [position], sure: [position], empty: false, passes: false }
      }
      case 'assertion':
        return { first: [], last: [], sure: [], empty: true, passes: false }
      case 'choice':
        return node.nodes
          .map((part) => this.#ends(part))
          .reduce((one, other) => ({
            first: [...one.first, ...other.first],
            last: [...one.last, ...other.last],
            sure: [...one.sure, ...other.sure],
            empty: one.empty || other.empty,
            passes: one.passes || other.passes,
          }))
      case 'sequence':
        return node.nodes.reduce<Ends>((before, part) => this.#joined(before, this.#ends(part)), {
          first: [],
          last: [],
          sure: [],
          empty: true,
          passes: true,
        })
      case 'repeat':
        return this.#repeated(node)
    }
  }

  #joined(left: Ends, right: Ends): Ends {
    for (const position of left.last) right.first.forEach((next) => position.next.add(next))
    return {
      first: left.empty ? [...left.first, ...right.first] : left.first,
      last: right.empty ? [...left.last, ...right.last] : right.last,
      sure: right.passes ? [...left.sure, ...right.sure] : right.sure,
      empty: left.empty && right.empty,
      passes: left.passes && right.passes,
    }
  }

  /** A repetition with a bound is one or two copies: more make the time longer, but never grow faster than the text. */
  #repeated({ body, least, most }: Extract<Node, { kind: 'repeat' }>): Ends {
    const unbounded = most === Infinity
    const before = this.runs.length
    this.#depth += unbounded ? 1 : 0
    let ends = this.#ends(body)
    this.#depth -= unbounded ? 1 : 0
    if (unbounded) {
      for (const position of ends.last) ends.first.forEach((next) => position.next.add(next))
      const run: Run = { positions: cycleOf(ends), nested: this.runs.length > before || this.#depth > 0, safe: false }
      this.runs.push(run)
      this.#marked.set(run, ends.last)
    }
    if (least === 0) ends = { ...ends, empty: true, passes: true }
    if (least > 1) return this.#joined(this.#ends(body), ends)
    return !unbounded && most > 1 ? this.#joined(ends, { ...this.#ends(body), empty: true, passes: true }) : ends
  }
}

/** All positions within a loop. */
function cycleOf({ first }: Ends): Position[] {
  const seen = new Set(first)
  for (const position of seen) position.next.forEach((next) => seen.add(next))
  return [...seen]
}

/** Whether (from, from, to) comes to (from, to, to) by one text. */
function meet(from: Position, to: Position): boolean {
  const ids = new Map<Position, number>()
  const id = (position: Position) => {
    if (!ids.has(position)) ids.set(position, ids.size)
    return ids.get(position)
  }
  const queue: (readonly [Position, Position, Position])[] = [[from, from, to]]
  const seen = new Set<string>()
  for (const [one, two, three] of queue)
    for (const nextOne of one.next)
      for (const nextTwo of two.next)
        for (const nextThree of three.next) {
          const both = nextOne.set.intersection(nextTwo.set)
          if (both.intersection(nextThree.set).size === 0) continue
          if (nextOne === from && nextTwo === to && nextThree === to) return true
          const key = `${id(nextOne)} ${id(nextTwo)} ${id(nextThree)}`
          if (seen.has(key)) continue
          seen.add(key)
          queue.push([nextOne, nextTwo, nextThree])
        }
  return false
}

/** Reads the source of an expression; throws on what it does not know, so that nothing slips by. */
class Reader {
  readonly #source: string
  readonly #flags: string
  #at = 0

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags.replaceAll(/[^isu]/g, '')
  }

  read(): Node {
    const node = this.#choice()
    if (this.#at < this.#source.length) throw new Error(`cannot read ${this.#source} from ${this.#at}`)
    return node
  }

  #choice(): Node {
    const nodes = [this.#sequence()]
    while (this.#takes('|')) nodes.push(this.#sequence())
    return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: 'choice', nodes }
  }

  #sequence(): Node {
    const nodes: Node[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? ''))
      nodes.push(this.#quantified())
    return { kind: 'sequence', nodes }
  }

  #quantified(): Node {
    const body = this.#atom()
    const [text, star, exact, comma, upper] =
      this.#sticky(/([*+?])\??|\{(\d+)(,?)(\d*)\}\??/y) ?? ([] as (string | undefined)[])
    if (text === undefined) return body
    if (star !== undefined)
      return { kind: 'repeat', body, least: star === '+' ? 1 : 0, most: star === '?' ? 1 : Infinity }
    const least = Number(exact)
    return { kind: 'repeat', body, least, most: comma === '' ? least : upper === '' ? Infinity : Number(upper) }
  }

  #atom(): Node {
    if (this.#takes('^')) return { kind: 'assertion', begin: true }
    if (this.#takes('$') || this.#sticky(/\\[bB]/y)) return { kind: 'assertion', begin: false }
    if (this.#sticky(/\(\?<?[=!]/y)) {
      const body = this.#choice()
      this.#close()
      return { kind: 'assertion', begin: false, body }
    }
    if (this.#sticky(/\((?:\?:|\?<\w+>)?/y)) {
      const body = this.#choice()
      this.#close()
      return body
    }
    const one = this.#sticky(
      /\[(?:\\.|[^\]\\])*\]|\\(?:x[\da-f]{2}|u[\da-f]{4}|u\{[\da-f]+\}|p\{\w+\}|[^\dk])|\\0|[^\\[(){}*+?|]/iy,
    )
    if (!one) throw new Error(`cannot read ${this.#source} from ${this.#at}`)
    const test = new RegExp(`^(?:${one[0]})$`, this.#flags)
    return { kind: 'character', set: new Set(alphabet.filter((character) => test.test(character))) }
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #close(): void {
    if (!this.#takes(')')) throw new Error(`cannot read ${this.#source} from ${this.#at}`)
  }

  #sticky(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#source)
    if (!found) return undefined
    this.#at += found[0].length
    return found
  }
}
