import type { Failure } from '../spec/error.ts'
import type { GenerateEvent, Item, StopReason, ToolCall } from '../spec/generate.ts'
import type { Usage } from '../spec/usage.ts'

/**
 * An answer as events: items and parts are opened when something is said and closed when something else is. Each method
 * gives the events that it takes; one item is open at a time.
 */
export class Telling {
  #index = -1
  #begun = false
  #ended = false
  #open: 'text' | 'reasoning' | 'call' | undefined;

  /** What is known at the beginning; said by itself before anything else where nobody says it. */
  *start(facts: Omit<Extract<GenerateEvent, { type: 'start' }>, 'type'> = {}): Iterable<GenerateEvent> {
    if (this.#begun) return
    this.#begun = true
    yield { type: 'start', ...facts }
  }

  /** More of what the model says. */
  *text(text: string): Iterable<GenerateEvent> {
    if (this.#open !== 'text') {
      yield* this.#next('text', { type: 'message', role: 'assistant', content: [] })
      yield { type: 'part', index: this.#index, kind: 'text' }
    }
    if (text !== '') yield { type: 'delta', index: this.#index, text }
  }

  /** More of its reasoning. */
  *reasoning(text: string): Iterable<GenerateEvent> {
    if (this.#open !== 'reasoning') {
      yield* this.#next('reasoning', { type: 'reasoning', parts: [] })
      yield { type: 'part', index: this.#index, kind: 'reasoning' }
    }
    if (text !== '') yield { type: 'delta', index: this.#index, text }
  }

  /** It calls a tool; `input` brings what it gives it. */
  *call(call: Omit<ToolCall, 'type' | 'input'>): Iterable<GenerateEvent> {
    yield* this.#next('call', { type: 'call', ...call, input: '' })
  }

  /** More of the input of the call that is open. */
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

  /** There is no more to come: a failure, where neither `finish` nor `fail` was said. */
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
