import type { GenerateEvent, HeldEvents, Usage, Verdict } from '../../engine/index.ts'

/** Ends an answer that a guard denies. It follows what the client was given. */
export class Denial {
  /** Items that are open for the client. */
  readonly #open = new Set<number>()
  #next = 0
  #hasText = false
  #usage: Usage | undefined

  /** Notes events that the client gets. */
  see(events: readonly GenerateEvent[]): void {
    for (const event of events) {
      if (event.type === 'item') {
        this.#open.add(event.index)
        this.#next = Math.max(this.#next, event.index + 1)
        this.#hasText ||= event.item.type !== 'message' && event.item.type !== 'reasoning'
      } else if (event.type === 'item-end') this.#open.delete(event.index)
      else if (event.type === 'delta') this.#hasText ||= event.text !== ''
    }
    this.#note(events)
  }

  /** The end of the answer: with the message of the guard, unless that would follow half a sentence. */
  verdict({ events }: HeldEvents, message: string): Verdict {
    this.#note(events)
    const finish = events.find((event) => event.type === 'finish')
    const usage = finish?.usage ?? this.#usage
    const end: GenerateEvent = {
      type: 'finish',
      stop: 'filter',
      ...(usage ? { usage } : {}),
      ...(finish?.further ? { further: finish.further } : {}),
    }
    if (this.#hasText) return { stop: end }
    const index = this.#next
    return {
      replace: [
        ...events.filter((event) => event.type === 'start'),
        ...[...this.#open].map((one): GenerateEvent => ({ type: 'item-end', index: one })),
        { type: 'item', index, item: { type: 'message', role: 'assistant', content: [] } },
        { type: 'part', index, kind: 'text' },
        { type: 'delta', index, text: message },
        { type: 'item-end', index },
        end,
      ],
    }
  }

  #note(events: readonly GenerateEvent[]): void {
    for (const event of events) if ('usage' in event && event.usage) this.#usage = event.usage
  }
}
