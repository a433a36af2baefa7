import { isBlank, withoutPhrases } from './courtesy.ts'
import { afterInjected, withoutInjected } from './injected.ts'

/** What a user said, without what clients, pastes and habits add to it. */
export interface Cleaned {
  readonly text: string
  /** Blocks of code, quotes and pasted paragraphs, of which `text` has the first characters. */
  readonly fences: number
  readonly quotes: number
  readonly pastes: number
}

/** Characters that are looked at, from the front and from the end, so that a text of any size takes the same time. */
const looked = { front: 16_000, end: 8_000 }
/** Characters that are kept. */
const kept = { front: 4_000, end: 2_000 }
/** Characters at each end that are looked at for phrases: more than all that are dropped there. */
const phrased = 3_000
/** Blocks that are looked at, from the front and from the end: more than a text of a usual kind has. */
const mostBlocks = { front: 600, end: 300 }
/** Characters of a block that are kept, and characters from which a paragraph beside a shorter one is pasted. */
const excerpt = 200
const pasted = 1_500
/** Characters without a blank from which a word is encoded data. */
const encoded = 200

/** Cleans what a user said in one turn. */
export function clean(said: string): Cleaned {
  const own = withoutData(joined(said))
  const counts = { fences: 0, quotes: 0, pastes: 0 }
  const blocks = own.length > excerpt ? blocksOf(own) : undefined
  const shorter = blocks?.some(({ kind, text }) => kind === 'prose' && text.length <= pasted) ?? false
  const texts = blocks?.map(({ kind, text }) => {
    if (kind === 'fence') {
      counts.fences++
      return text.length <= excerpt ? text : `${text.slice(0, excerpt)}\n\`\`\``
    }
    if (kind === 'quote') {
      counts.quotes++
      return text.slice(0, excerpt)
    }
    if (text.length <= pasted || !shorter) return text
    counts.pastes++
    return `> ${text.slice(0, excerpt).replaceAll('\n', '\n> ')}`
  })
  const rest = bounded((texts?.join('\n\n') ?? own).trim(), phrased)
  return { text: bounded(withoutPhrases(rest)), ...counts }
}

/** The user's own words, from the front and the end of a long text. */
function joined(said: string): string {
  if (said.length <= looked.front + looked.end) return withoutInjected(said).trim()
  const front = withoutInjected(said.slice(0, looked.front), true)
  const end = withoutInjected(afterInjected(said.slice(-looked.end)))
  return `${front.trim()}\n\n${end.trim()}`.trim()
}

/** What is kept of a text, and so many characters more at each end. */
function bounded(text: string, more = 0): string {
  if (text.length <= kept.front + kept.end + 2 * more) return text
  return `${text.slice(0, kept.front + more)}${text.slice(-kept.end - more)}`
}

/** A text without base64. */
function withoutData(text: string): string {
  if (text.length < encoded) return text
  const pieces: string[] = []
  let from = 0
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && isBase64(text.charCodeAt(at))) continue
    if (at - start >= encoded) {
      pieces.push(text.slice(from, start).replace(/data:[\w/.+-]{0,64};base64,$/i, ''))
      from = at
    }
    start = at + 1
  }
  return pieces.length === 0 ? text : pieces.join('') + text.slice(from)
}

const isBase64Code = Uint8Array.from({ length: 128 }, (_, code) => Number(/[\w+/=-]/.test(String.fromCharCode(code))))

function isBase64(code: number): boolean {
  return isBase64Code[code] === 1
}

interface Block {
  readonly kind: 'prose' | 'fence' | 'quote'
  readonly text: string
}

/** The fenced blocks, the quotes and the paragraphs of a text: of very many, the first and the last ones. */
export function blocksOf(text: string): readonly Block[] {
  const found = new Found(text)
  let kind: Block['kind'] = 'prose'
  let fence = ''
  /** Where the block begins; -1: there is none. */
  let start = -1
  const end = (at: number) => {
    if (start >= 0) found.add(kind, start, at)
    start = -1
    kind = 'prose'
  }
  for (let at = 0; at < text.length;) {
    let lead = at
    while (lead < text.length && text.charCodeAt(lead) !== lineBreak && isBlank(text, lead)) lead++
    let after = lead
    while (after < text.length && text.charCodeAt(after) !== lineBreak) after++
    const mark = text.charCodeAt(lead)
    const opened = mark === 96 || mark === 126 ? fences.find((one) => text.startsWith(one, lead)) : undefined
    if (kind === 'fence') {
      if (opened === fence) end(after)
    } else if (opened !== undefined) {
      end(at)
      kind = 'fence'
      fence = opened
      start = lead
    } else if (lead === after) end(at)
    else {
      const isQuoted = mark === 62
      if (isQuoted !== (kind === 'quote')) end(at)
      if (isQuoted) kind = 'quote'
      if (start < 0) start = lead
    }
    at = after + 1
  }
  end(text.length)
  return found.blocks
}

const lineBreak = 10
const fences = ['```', '~~~'] as const

/** A block, by the offset of its first character and that behind its last one. */
interface Place extends Pick<Block, 'kind'> {
  readonly start: number
  readonly end: number
}

/** The first and the last blocks of a text. */
class Found {
  readonly #text: string
  readonly #front: Place[] = []
  #end: Place[] = []

  constructor(text: string) {
    this.#text = text
  }

  get blocks(): readonly Block[] {
    const places = [...this.#front, ...this.#end.slice(-mostBlocks.end)]
    return places.map(({ kind, start, end }) => ({ kind, text: this.#text.slice(start, end).trimEnd() }))
  }

  add(kind: Block['kind'], start: number, end: number): void {
    // What a text has in its middle is dropped from time to time.
    if (this.#end.length >= 2 * mostBlocks.end) this.#end = this.#end.slice(-mostBlocks.end)
    const blocks = this.#front.length < mostBlocks.front ? this.#front : this.#end
    blocks.push({ kind, start, end })
  }
}
