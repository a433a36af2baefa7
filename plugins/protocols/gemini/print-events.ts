import type { Asked, EventPrinter, Frame, GenerateEvent, Loss } from '../../../engine/index.ts'
import { errorFrame } from './errors.ts'
import { AnswerPrinter, chunk } from './print-answer.ts'

/** Prints an answer for a client: each chunk is a `GenerateContentResponse`, and the stream has no last event. */
export class GeminiPrinter implements EventPrinter<GenerateEvent> {
  readonly #answer: AnswerPrinter
  #done = false

  constructor(asked: Asked) {
    this.#answer = new AnswerPrinter(asked)
  }

  get losses(): readonly Loss[] {
    return this.#answer.losses
  }

  *print(event: GenerateEvent): Iterable<Frame> {
    if (this.#done) return
    if (event.type === 'failure') {
      this.#done = true
      yield errorFrame(event.failure)
      return
    }
    for (const addition of this.#answer.print(event)) {
      this.#done = addition.end !== undefined
      yield { data: JSON.stringify(chunk(this.#answer.head, addition)) }
    }
  }
}
