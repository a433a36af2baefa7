import type { GenerateEvent, JsonObject, Logprob } from '../../../engine/index.ts'
import { citations } from './search.ts'

/** Parses one message, whose text arrives in parts of any length. */
export class MessageParser {
  readonly #index: number
  #text = ''
  /** The latest signature among its parts; empty without one. */
  #signature = ''

  constructor(index: number) {
    this.#index = index
  }

  *open(): Iterable<GenerateEvent> {
    yield { type: 'item', index: this.#index, item: { type: 'message', role: 'assistant', content: [] } }
    yield { type: 'part', index: this.#index, kind: 'text' }
  }

  *add(text: string, signature: string, logprobs: readonly Logprob[] | undefined): Iterable<GenerateEvent> {
    if (signature !== '') this.#signature = signature
    if (text === '') return
    this.#text += text
    yield { type: 'delta', index: this.#index, text, ...(logprobs ? { logprobs } : {}) }
  }

  /** The citations, which the vendor tells after the text, the seal, and the end. */
  *close(grounding: JsonObject): Iterable<GenerateEvent> {
    for (const annotation of citations(grounding, this.#text))
      yield { type: 'annotation', index: this.#index, annotation }
    if (this.#signature !== '')
      yield { type: 'seal', index: this.#index, seal: { kind: 'redacted', data: this.#signature } }
    yield { type: 'item-end', index: this.#index }
  }
}
