import { scrubbedFailure } from '../../spec/error.ts'
import type { GenerateEvent, Item, Message, Reasoning } from '../../spec/generate.ts'
import { mapMembers, mapTexts } from '../../spec/json.ts'
import type { Json } from '../../spec/json.ts'
import type { Annotation, MediaSource, Part } from '../../spec/part.ts'
import type { EventMap } from '../../spec/slots.ts'
import { HeldJson } from './held-json.ts'
import { HeldText } from './held-text.ts'
import { anyText } from './map-json.ts'
import type { TextChange } from './map-json.ts'

/**
 * A map for answers (`answer.map`) that puts every text through `change`: the model's text, refusals, reasoning and
 * its summaries, the input of calls, and the texts in items and fields that only one protocol has.
 *
 * `change` may be called repeatedly with the same text, so it must be deterministic. `longest` is the maximum length,
 * in characters, of a text that it may change, including the surroundings that it looks at: that many characters of
 * an unfinished text are held back. The input of a function is JSON; each of its strings and numbers is changed when
 * it has ended.
 *
 * Log probabilities repeat the tokens and are dropped. Where a text was changed, the offsets of its annotations
 * become 0; its seal, and citations that only their own protocol can read, are dropped.
 */
export function mapText(change: TextChange, longest: number): () => EventMap {
  return () => new TextMap(change, longest)
}

type Of<T extends GenerateEvent['type']> = Extract<GenerateEvent, { type: T }>

/** An unfinished item. */
interface Open {
  readonly item: Item
  text: HeldText | HeldJson
  /** Annotations of the open part; whether its text is changed is known at its end. */
  annotations: Annotation[]
  /** Whether a finished part was changed. */
  changed: boolean
}

function isSealable(item: Item): item is Message | Reasoning {
  return item.type === 'reasoning' || item.type === 'message'
}

class TextMap implements EventMap {
  readonly #change: TextChange
  readonly #longest: number
  /** `change` for a text that may be JSON or binary data. */
  readonly #any: TextChange
  readonly #open = new Map<number, Open>()

  constructor(change: TextChange, longest: number) {
    this.#change = change
    this.#longest = longest
    this.#any = anyText(change)
  }

  event(event: GenerateEvent): readonly GenerateEvent[] {
    switch (event.type) {
      case 'start':
      case 'usage':
        return [event]
      case 'item':
        return [this.#begin(event)]
      case 'part':
        return [...this.#flush(event.index), event]
      case 'delta':
        return this.#say(event)
      case 'annotation':
        this.#open.get(event.index)?.annotations.push(event.annotation)
        return []
      case 'seal':
        return this.#seal(event)
      case 'progress':
        return event.piece ? [] : [{ ...event, value: mapMembers(event.value, this.#any, Infinity) }]
      case 'item-end':
        return [...this.#end(event.index), event]
      case 'finish':
        return [...this.#all(), this.#finish(event)]
      case 'failure':
        return [...this.#all(), { type: 'failure', failure: scrubbedFailure(event.failure, this.#any) }]
    }
  }

  #begin({ index, item }: Of<'item'>): GenerateEvent {
    const json = item.type === 'call' && item.kind === 'function'
    const text = json ? new HeldJson(this.#change, this.#longest) : new HeldText(this.#change, this.#longest)
    this.#open.set(index, { item, text, annotations: [], changed: false })
    if (!isSealable(item)) return { type: 'item', index, item: this.#item(item) }
    // Whether the seal stays valid is known at the end of the item.
    const { seal: _, ...open } = item
    return { type: 'item', index, item: this.#item(open) }
  }

  #say({ index, text }: Of<'delta'>): readonly GenerateEvent[] {
    return delta(index, this.#open.get(index)?.text.push(text) ?? this.#change(text))
  }

  #seal(event: Of<'seal'>): readonly GenerateEvent[] {
    const flushed = this.#flush(event.index)
    return this.#open.get(event.index)?.changed ? flushed : [...flushed, event]
  }

  /** The rest of the open part. */
  #flush(index: number): readonly GenerateEvent[] {
    const open = this.#open.get(index)
    if (!open) return []
    const said = delta(index, open.text.end())
    const { changed } = open.text
    open.changed ||= changed
    const annotations = open.annotations.flatMap((annotation): readonly GenerateEvent[] => {
      const kept = this.#annotation(annotation, changed)
      return kept ? [{ type: 'annotation', index, annotation: kept }] : []
    })
    open.annotations = []
    // A call has a single text; in any other item, each part has its own.
    if (open.item.type !== 'call') open.text = new HeldText(this.#change, this.#longest)
    return [...said, ...annotations]
  }

  #end(index: number): readonly GenerateEvent[] {
    const flushed = this.#flush(index)
    const { item, changed } = this.#open.get(index) ?? {}
    this.#open.delete(index)
    if (!item || !isSealable(item) || !item.seal || changed) return flushed
    return [...flushed, { type: 'seal', index, seal: item.seal }]
  }

  #all(): readonly GenerateEvent[] {
    return [...this.#open.keys()].flatMap((index) => this.#end(index))
  }

  #finish({ stopSequence, rest, ...event }: Of<'finish'>): GenerateEvent {
    return {
      ...event,
      ...(stopSequence === undefined ? {} : { stopSequence: this.#change(stopSequence) }),
      ...(rest ? { rest: { ...rest, fields: mapMembers(rest.fields, this.#any, Infinity) } } : {}),
    }
  }

  /** The content with which an item opens. */
  #item(item: Item): Item {
    switch (item.type) {
      case 'message':
        return this.#message(item)
      case 'reasoning':
        return { ...item, parts: item.parts.map((part) => ({ ...part, text: this.#change(part.text) })) }
      case 'call':
        return { ...item, input: this.#any(item.input) }
      case 'result':
        return { ...item, content: item.content.map((part) => this.#part(part)) }
      case 'opaque': {
        const { value, search, instead } = item
        return {
          ...item,
          value: mapMembers(value, this.#any, Infinity),
          ...(search ? { search: mapTexts(search as unknown as Json, this.#any) as unknown as typeof search } : {}),
          ...(instead ? { instead: this.#message(instead) } : {}),
        }
      }
    }
  }

  #message(message: Message): Message {
    return { ...message, content: message.content.map((part) => this.#part(part)) }
  }

  #part(part: Part): Part {
    switch (part.type) {
      case 'text': {
        const { logprobs: _, annotations = [], ...said } = part
        const text = this.#change(part.text)
        const kept = annotations.flatMap((annotation) => this.#annotation(annotation, text !== part.text) ?? [])
        return { ...said, text, ...(kept.length > 0 ? { annotations: kept } : {}) }
      }
      case 'refusal':
        return { ...part, text: this.#change(part.text) }
      case 'opaque':
        return { ...part, value: mapMembers(part.value, this.#any, Infinity) }
      case 'file': {
        const { filename, title, context } = part
        const named = Object.entries({ filename, title, context }).flatMap(([name, text]) =>
          text === undefined ? [] : [[name, this.#change(text)] as const],
        )
        return { ...part, ...Object.fromEntries(named), source: this.#source(part.source) }
      }
      case 'image':
      case 'audio':
        return { ...part, source: this.#source(part.source) }
    }
  }

  #source(source: MediaSource): MediaSource {
    if (source.kind === 'text') return { ...source, text: this.#change(source.text) }
    return source.kind === 'url' ? { ...source, url: this.#any(source.url) } : source
  }

  /** The annotation for a part; undefined if it would no longer be readable. */
  #annotation(annotation: Annotation, changed: boolean): Annotation | undefined {
    if (annotation.type === 'opaque')
      return changed ? undefined : { ...annotation, value: mapMembers(annotation.value, this.#any, Infinity) }
    const { own, ...others } = annotation
    const told = { ...others, url: this.#change(annotation.url), title: this.#change(annotation.title) }
    if (changed) return { ...told, start: 0, end: 0 }
    return own ? { ...told, own: { ...own, value: mapMembers(own.value, this.#any, Infinity) } } : told
  }
}

function delta(index: number, text: string): readonly GenerateEvent[] {
  return text === '' ? [] : [{ type: 'delta', index, text }]
}
