import type { GenerateEvent, HeldEvents, Item, Part } from '../../engine/index.ts'

type HeldText = HeldEvents['texts'][number]
type Kind = HeldText['part']

/** A part whose text may go on in later windows. */
interface Open {
  kind: Kind
  /** The last characters of its judged text. */
  tail: string
  /** Its text in this window; absent: none yet. */
  entry: Entry | undefined
}

interface Entry {
  readonly index: number
  readonly open: Open
  readonly pieces: string[]
}

/** The events that one gate judges next, and their texts, gathered in one step per event. */
export class GateWindow {
  readonly #overlap: number
  readonly #open = new Map<number, Open>()
  #events: GenerateEvent[] = []
  #entries: Entry[] = []
  /** Characters of earlier windows, and of this one. */
  #from = 0
  #characters = 0

  /** @param overlap characters of judged text to show again */
  constructor(overlap: number) {
    this.#overlap = overlap
  }

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  get characters(): number {
    return this.#characters
  }

  add(event: GenerateEvent): void {
    this.#events.push(event)
    switch (event.type) {
      case 'item':
        return this.#begin(event.index, event.item)
      case 'part':
        this.#open.set(event.index, opened(event.kind === 'summary' ? 'reasoning' : event.kind))
        return
      case 'delta':
        return this.#say(event.index, event.text)
      case 'item-end':
        this.#open.delete(event.index)
    }
  }

  /** What is judged now. The next window is empty. */
  close(): HeldEvents {
    const texts = this.#entries.map((entry) => this.#textOf(entry))
    const last = this.#events.at(-1)?.type
    const ends = last === 'finish' || last === 'failure'
    const held = { events: this.#events, texts, from: this.#from, final: ends, ...(ends ? { last } : {}) }
    this.#from += this.#characters
    this.#characters = 0
    this.#events = []
    this.#entries = []
    return held
  }

  #begin(index: number, item: Item): void {
    const kind = item.type === 'call' || item.type === 'reasoning' ? item.type : 'text'
    for (const { part, text } of textsOf(item)) {
      this.#open.set(index, opened(part))
      this.#say(index, text)
    }
    // The input of a call goes on; what a message or reasoning opens with is followed by parts of their own.
    if (item.type !== 'call' || item.input === '') this.#open.set(index, opened(kind))
  }

  #say(index: number, text: string): void {
    if (typeof text !== 'string' || text === '') return
    let open = this.#open.get(index)
    if (!open) this.#open.set(index, (open = opened('text')))
    if (open.entry) open.entry.pieces.push(text)
    else this.#entries.push((open.entry = { index, open, pieces: [text] }))
    this.#characters += text.length
  }

  #textOf({ index, open, pieces }: Entry): HeldText {
    const text = pieces.join('')
    const { kind: part, tail: before } = open
    open.entry = undefined
    if (this.#overlap > 0) open.tail = (text.length < this.#overlap ? before + text : text).slice(-this.#overlap)
    return { index, part, before, text }
  }
}

function opened(kind: Kind): Open {
  return { kind, tail: '', entry: undefined }
}

/** The texts with which an item opens. */
function textsOf(item: Item): readonly Pick<HeldText, 'part' | 'text'>[] {
  switch (item.type) {
    case 'message':
    case 'result':
      return inParts(item.content)
    case 'reasoning':
      return item.parts.map(({ text }) => ({ part: 'reasoning', text }))
    case 'call':
      return item.input === '' ? [] : [{ part: 'call', text: item.input }]
    case 'opaque':
      return inParts(item.instead?.content ?? [])
  }
}

function inParts(parts: readonly Part[]): readonly Pick<HeldText, 'part' | 'text'>[] {
  return parts.flatMap((part) => {
    return part.type === 'text' || part.type === 'refusal' ? [{ part: part.type, text: part.text }] : []
  })
}
