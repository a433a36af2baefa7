import { isObject } from '../../../engine/kit.ts'
import type { Json, JsonObject, Logprob } from '../../../engine/index.ts'
import { parseAnnotation, parseLogprobs } from './annotations.ts'
import type { Events } from './events.ts'

type Kind = 'text' | 'refusal'

/** Content, refusal and citations of an answer: one message until another item begins. */
export class TextParser {
  readonly #events: Events
  #index: number | undefined
  #part: Kind | undefined
  #opened = false
  /** Whether a refusal has begun. */
  refused = false

  constructor(events: Events) {
    this.#events = events
  }

  text(kind: Kind, text: string, logprobs: Json | undefined): void {
    const index = this.#open(kind)
    if (kind === 'refusal') this.refused = true
    const list: readonly Logprob[] | undefined = isObject(logprobs)
      ? parseLogprobs(logprobs[kind === 'text' ? 'content' : 'refusal'])
      : undefined
    this.#events.push(list ? { type: 'delta', index, text, logprobs: list } : { type: 'delta', index, text })
  }

  annotations(list: readonly Json[]): void {
    // A citation after the end of its message has no text to belong to.
    if (this.#index === undefined && this.#opened) return
    for (const value of list.filter((entry): entry is JsonObject => isObject(entry))) {
      this.#events.push({ type: 'annotation', index: this.#open('text'), annotation: parseAnnotation(value) })
    }
  }

  close(): void {
    if (this.#index === undefined) return
    this.#events.push({ type: 'item-end', index: this.#index })
    this.#index = undefined
    this.#part = undefined
  }

  #open(kind: Kind): number {
    this.#opened = true
    this.#index ??= this.#events.open({ type: 'message', role: 'assistant', content: [] })
    if (this.#part !== kind) this.#events.push({ type: 'part', index: this.#index, kind })
    this.#part = kind
    return this.#index
  }
}
