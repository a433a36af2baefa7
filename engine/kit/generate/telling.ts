import type { Failure } from '../../spec/error.ts'
import type { GenerateEvent, Item, StopReason, ToolCall } from '../../spec/generate.ts'
import type { Usage } from '../../spec/usage.ts'

/**
 * Builds the events of an answer. Items and parts open and close as the kind of content changes; one item is open at
 * a time. Each method returns the events to send.
 */
export class Telling {
  #index = -1
  #begun = false
  #ended = false
  #open: 'text' | 'reasoning' | 'call' | undefined;

  /** The start event with the known facts; sent without facts before anything else if this is not called. */
  *start(facts: Omit<Extract<GenerateEvent, { type: 'start' }>, 'type'> = {}): Iterable<GenerateEvent> {
    if (this.#begun) return
    this.#begun = true
    yield { type: 'start', ...facts }
  }

  /** More text of the model. */
  *text(text: string): Iterable<GenerateEvent> {
    if (this.#open !== 'text') {
      yield* this.#next('text', { type: 'message', role: 'assistant', content: [] })
      yield { type: 'part', index: this.#index, kind: 'text' }
    }
    if (text !== '') yield { type: 'delta', index: this.#index, text }
  }

  /** More reasoning of the model. */
  *reasoning(text: string): Iterable<GenerateEvent> {
    if (this.#open !== 'reasoning') {
      yield* this.#next('reasoning', { type: 'reasoning', parts: [] })
      yield { type: 'part', index: this.#index, kind: 'reasoning' }
    }
    if (text !== '') yield { type: 'delta', index: this.#index, text }
  }

  /** A tool call; its arguments follow through `input`. */
  *call(call: Omit<ToolCall, 'type' | 'input'>): Iterable<GenerateEvent> {
    yield* this.#next('call', { type: 'call', ...call, input: '' })
  }

  /** More input for the open call. */
  *input(text: string): Iterable<GenerateEvent> {
    if (this.#open === 'call' && text !== '') yield { type: 'delta', index: this.#index, text }
  }

  *finish(stop: StopReason, usage?: Usage): Iterable<GenerateEvent> {
    yield* this.start()
    yield* this.#close()
    this.#ended = true
    yield { type: 'finish', stop, ...(usage === undefined ? {} : { usage }) }
  }

  *fail(failure: Failure): Iterable<GenerateEvent> {
    yield* this.start()
    this.#ended = true
    yield { type: 'failure', failure }
  }

  /** The end of the answer: a failure, unless `finish` or `fail` was called. */
  *end(): Iterable<GenerateEvent> {
    const message = 'The stream of the provider ended before the answer did.'
    if (!this.#ended) yield* this.fail({ status: 502, code: null, type: 'server_error', message, param: null })
  }

  *#next(open: 'text' | 'reasoning' | 'call', item: Item): Iterable<GenerateEvent> {
    yield* this.start()
    yield* this.#close()
    this.#open = open
    yield { type: 'item', index: ++this.#index, item }
  }

  *#close(): Iterable<GenerateEvent> {
    if (this.#open !== undefined) yield { type: 'item-end', index: this.#index }
    this.#open = undefined
  }
}
