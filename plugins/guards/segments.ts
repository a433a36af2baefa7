import type { GenerateEvent, Item, Json, JsonObject, Judged } from '../../engine/index.ts'
import { withTexts } from './texts.ts'

export type PartKind = 'text' | 'refusal' | 'reasoning' | 'call'

/** What a part goes on. */
interface Joint {
  /** The part before it, while that is not given. */
  last: Segment | undefined
  /** The end of that. */
  readonly text: string
  /** Whether a mask stands there. */
  readonly isBegun: boolean
}

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
  /** The part before it, and the one of its kind if that is another: a client may show refusals apart. */
  joints: readonly Joint[]
  /** Whether it was joined to the parts before. */
  isJoined: boolean
  /** Whether a mask stands at its end. */
  endsMasked: boolean
  /** Whether something stood before `before`. */
  isCut: boolean
  /** What came with these events. */
  text: string
  /** Whether the part has ended. */
  isOver: boolean
  /** Whether the next part may go on a text that has ended, because a client shows both as one. */
  mayGoOn: boolean
  /** How much text of its kind there was with its last character. */
  saidAt: number
  /** Whether it was changed, and whether a text of its item was. */
  isChanged: boolean
  readonly item: { isChanged: boolean }
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

/** Most characters of joints in one window, as far as each is longer than a match. */
const mostUnjudged = 8 * mostContext

/** Which joint of a part leads to the one before: 0 to any, -1 to one of its kind. */
export type Way = 0 | -1

/** The part that another one goes on, while it is not given. */
export function partBefore(segment: Segment | undefined, way: Way = 0): Segment | undefined {
  return segment?.joints.at(way)?.last
}

/** Texts that a client may show as one, whatever stands between their parts: the last of all, and of each kind. */
interface Line {
  last: Segment | undefined
  readonly ends: Map<PartKind, Segment>
}

/** Follows the parts of an answer from window to window. */
export class Segments {
  readonly #open = new Map<number, Segment>()
  readonly #context: number
  readonly #joins: boolean
  readonly #text: Line = { last: undefined, ends: new Map() }
  readonly #reasoning: Line = { last: undefined, ends: new Map() }
  #unjudged = 0
  readonly #said = { text: 0, refusal: 0, reasoning: 0, call: 0 }

  /**
   * @param context characters that a segment keeps as `before`, of earlier windows and of what the client has
   * @param joins whether a part is known with the end of the one before
   */
  constructor(context: number, joins = false) {
    this.#context = context
    this.#joins = joins
  }

  /** Characters of parts that came after a text, and may go it on. */
  after({ kind, saidAt }: Segment): number {
    return this.#said[kind] - saidAt
  }

  /** The events of a window with their texts, and these texts in the order in which they begin. */
  place(events: readonly GenerateEvent[]): {
    readonly placed: readonly PlacedEvent[]
    readonly segments: readonly Segment[]
  } {
    const seen = new Set<Segment>()
    this.#unjudged = 0
    const placed = events.map((event): PlacedEvent => {
      switch (event.type) {
        case 'item':
          this.#begin(event.index, event.item)
          break
        case 'part': {
          const { item } = this.#open.get(event.index) ?? {}
          const ended = this.#end(event.index)
          this.#open.set(event.index, segmentOf(event.index, event.kind === 'summary' ? 'reasoning' : event.kind, item))
          if (ended) seen.add(ended)
          return { event, segment: ended }
        }
        case 'delta': {
          let segment = this.#open.get(event.index)
          if (!segment) this.#open.set(event.index, (segment = segmentOf(event.index, 'text')))
          this.#say(segment, event.text)
          seen.add(segment)
          return { event, segment }
        }
        case 'item-end': {
          const ended = this.#end(event.index)
          this.#open.delete(event.index)
          this.#endReasoning(event.index)
          if (ended) seen.add(ended)
          return { event, segment: ended }
        }
        case 'annotation': {
          const segment = this.#open.get(event.index)
          if (segment) seen.add(segment)
          return { event, segment }
        }
        case 'seal': {
          // It tells whether the text before it is unchanged, so none of it may wait any more.
          const sealed = this.#end(event.index)
          this.#endReasoning(event.index)
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
      segment.text = ''
    }
  }

  #lineOf(kind: PartKind): Line | undefined {
    if (kind === 'call') return undefined
    return kind === 'reasoning' ? this.#reasoning : this.#text
  }

  #say(segment: Segment, text: string): void {
    segment.text += text
    segment.isOver = segment.mayGoOn = segment.endsMasked = false
    const line = this.#lineOf(segment.kind)
    if (text === '' || !this.#joins || !line) return
    segment.saidAt = this.#said[segment.kind] += text.length
    if (segment.isJoined) return
    segment.isJoined = true
    const { last, ends } = line
    const kin = ends.get(segment.kind)
    if (last) segment.joints = [this.#jointTo(last, 0)]
    if (kin && kin !== last) segment.joints = [...segment.joints, this.#jointTo(kin, -1)]
    line.last = segment
    ends.set(segment.kind, segment)
  }

  /** To the end of a text that the next part goes on, with all of a match that is open there. */
  #jointTo(last: Segment, way: Way): Joint {
    const { joints, before, text, isCut, open, endsMasked } = last
    const first = isCut ? '' : (joints.at(way)?.text ?? '')
    const all = first + before + text
    const tail = Math.max(0, all.length - this.#context - 1)
    // Nobody knows yet whether a match is open in what came with the same events.
    const isJudged = text === '' || (this.#unjudged += tail) > mostUnjudged
    const start = open === undefined ? (isJudged ? tail : 0) : Math.min(tail, first.length + open)
    return { last, text: all.slice(start), isBegun: endsMasked }
  }

  /** What comes after reasoning does not go it on: an answer would wait for its end. */
  #endReasoning(index: number): void {
    for (let one = this.#reasoning.last; one?.index === index; one = partBefore(one)) one.mayGoOn = false
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
    segment.mayGoOn = this.#joins && segment.kind !== 'call'
    return segment
  }
}

function segmentOf(index: number, kind: PartKind, item = { isChanged: false }): Segment {
  return {
    index,
    kind,
    call: undefined,
    before: '',
    given: 0,
    open: undefined,
    joints: [],
    isJoined: false,
    endsMasked: false,
    isCut: false,
    text: '',
    isOver: false,
    mayGoOn: false,
    saidAt: 0,
    isChanged: false,
    item,
  }
}

/** Whether an event belongs to a text; of a call, all of its item does. */
export function isOf({ event, segment: own }: PlacedEvent, segment: Segment): boolean {
  return own === segment || (segment.call !== undefined && 'index' in event && event.index === segment.index)
}

/** A text is given as another one: what is said of its places, or seals its item, is not true any more. */
export function change(segment: Segment): void {
  segment.isChanged = segment.item.isChanged = true
}

export function endsItem(event: GenerateEvent, index: number): boolean {
  return event.type === 'item-end' && event.index === index
}

/** The calls among texts, as guards are told. */
export function callsOf(segments: readonly Segment[]): Judged['tool_calls'] {
  return segments.flatMap(({ call, text }) => (call ? [{ id: call.id, name: call.name, arguments: text }] : []))
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
