import type { GenerateEvent, Item, Json, JsonObject } from '../../engine/index.ts'
import { withTexts } from './texts.ts'

export type PartKind = 'text' | 'refusal' | 'reasoning' | 'call'

/** A text of one part of an answer, as far as it has come. */
export interface Segment {
  /** Number of the item. */
  readonly index: number
  readonly kind: PartKind
  /** For a call: its id, its name, and whether its text is JSON. */
  readonly call: { readonly id: string; readonly name: string; readonly isJson: boolean } | undefined
  /** What came before these events, as it was. */
  before: string
  /** Characters of `before` that the client has, or a mask in their place. */
  given: number
  /** Index in `before` of a match that may go on. */
  open: number | undefined
  /** The part that it goes on, while that is in the same window, and the end of that. */
  last: Segment | undefined
  readonly joint: string
  /** Whether something stood before `before`. */
  isCut: boolean
  /** What came with these events. */
  text: string
  /** Whether the part has ended with these events. */
  isOver: boolean
  /** Whether a text of the item was changed. */
  isChanged: boolean
}

/** Where a text of an answer is, as guards are told. */
export function placeOf({ index, kind }: Pick<Segment, 'index' | 'kind'>): string {
  return kind === 'call'
    ? `output[${index}].arguments`
    : kind === 'text'
      ? `output[${index}]`
      : `output[${index}].${kind}`
}

/** One event, with the text that it belongs to. */
export interface PlacedEvent {
  readonly event: GenerateEvent
  /** The text of a delta; what ends with an `item-end`, or with the beginning of the next part. */
  readonly segment: Segment | undefined
}

/** Most characters that are kept of a match that goes on, such as a long key. */
const mostContext = 32_768

/** Follows the parts of an answer from window to window. */
export class Segments {
  readonly #open = new Map<number, Segment>()
  readonly #context: number

  /** @param context characters that a segment keeps as `before`, of earlier windows and of what the client has */
  constructor(context: number) {
    this.#context = context
  }

  /** The events of a window with their texts, and these texts in the order in which they begin. */
  place(events: readonly GenerateEvent[]): {
    readonly placed: readonly PlacedEvent[]
    readonly segments: readonly Segment[]
  } {
    const seen = new Set<Segment>()
    const placed = events.map((event): PlacedEvent => {
      switch (event.type) {
        case 'item':
          this.#begin(event.index, event.item)
          break
        case 'part': {
          const last = this.#open.get(event.index)
          const ended = this.#end(event.index)
          const next = segmentOf(event.index, event.kind === 'summary' ? 'reasoning' : event.kind)
          this.#open.set(event.index, last?.kind === next.kind ? { ...next, last, joint: this.#jointOf(last) } : next)
          if (ended) seen.add(ended)
          return { event, segment: ended }
        }
        case 'delta': {
          let segment = this.#open.get(event.index)
          if (!segment) this.#open.set(event.index, (segment = segmentOf(event.index, 'text')))
          segment.text += event.text
          segment.isOver = false
          seen.add(segment)
          return { event, segment }
        }
        case 'item-end': {
          const ended = this.#end(event.index)
          this.#open.delete(event.index)
          if (ended) seen.add(ended)
          return { event, segment: ended }
        }
        case 'annotation':
          return { event, segment: this.#open.get(event.index) }
        case 'seal': {
          // It tells whether the text before it is unchanged, so none of it may wait any more.
          const sealed = this.#end(event.index)
          if (sealed) seen.add(sealed)
          return { event, segment: sealed }
        }
        case 'finish':
        case 'failure':
          for (const index of this.#open.keys()) {
            const ended = this.#end(index)
            if (ended) seen.add(ended)
          }
      }
      return { event, segment: undefined }
    })
    return { placed, segments: [...seen] }
  }

  /** The window is over: its text is what comes before the next one, from an index on if a match goes on there. */
  close(segments: readonly Segment[], from?: (segment: Segment) => number | undefined): void {
    for (const segment of segments) {
      const all = segment.before + segment.text
      const open = from?.(segment)
      // What stands before a match decides whether it is one.
      const first = Math.min(segment.given, open ?? all.length) - this.#context
      const start = Math.max(0, Math.min(first, all.length - this.#context), all.length - mostContext)
      segment.before = all.slice(start)
      segment.given = Math.max(0, segment.given - start)
      segment.open = open === undefined ? undefined : Math.max(0, open - start)
      segment.isCut ||= start > 0
      segment.last = undefined
      segment.text = ''
    }
  }

  /** The end of a part that the next one goes on: a client shows them as one text. */
  #jointOf({ joint, before, text }: Segment): string {
    return Number.isFinite(this.#context) ? (joint + before + text).slice(-this.#context - 1) : ''
  }

  #begin(index: number, item: Item): void {
    if (item.type === 'call') {
      const call = { id: item.callId, name: item.name, isJson: item.kind === 'function' }
      const segment: Segment = { ...segmentOf(index, 'call'), call }
      segment.text = item.input
      this.#open.set(index, segment)
    } else if (item.type === 'message' || item.type === 'reasoning')
      this.#open.set(index, segmentOf(index, item.type === 'reasoning' ? 'reasoning' : 'text'))
  }

  #end(index: number): Segment | undefined {
    const segment = this.#open.get(index)
    if (segment === undefined || segment.before.length + segment.text.length === 0) return undefined
    segment.isOver = true
    return segment
  }
}

function segmentOf(index: number, kind: PartKind): Segment {
  return {
    index,
    kind,
    call: undefined,
    before: '',
    given: 0,
    open: undefined,
    last: undefined,
    joint: '',
    isCut: false,
    text: '',
    isOver: false,
    isChanged: false,
  }
}

/** The texts in the input of a call: those of its JSON, or all of it. */
export function textsOfCall(input: string): readonly string[] {
  const texts: string[] = []
  inCall(input, (text) => {
    texts.push(text)
    return undefined
  })
  return texts
}

/** The input of a call with other texts; JSON stays JSON. */
export function inCall(input: string, replace: (text: string) => string | undefined): string {
  const changed = withTexts({ input: [{ type: 'call', arguments: input }] }, '', ({ text }) => replace(text))
  const [item] = changed['input'] as readonly JsonObject[]
  const given: Json | undefined = item?.['arguments']
  return typeof given === 'string' ? given : input
}
