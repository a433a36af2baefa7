import type { GenerateEvent, HeldEvents, Verdict } from '../../engine/index.ts'

/** Ends an answer that a guard denies. It follows what the client was given. */
export class Denial {
  /** Items that are open for the client. */
  readonly #open = new Set<number>()
  #next = 0
  #hasText = false

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
  }

  /**
   * The end of the answer: with the message of the guard, unless that would follow half a sentence.
   * @param before events of the window that the client still gets
   */
  verdict({ events }: HeldEvents, message: string, before: readonly GenerateEvent[]): Verdict {
    this.see(before)
    const finish = events.find((event) => event.type === 'finish')
    // Before the upstream's end, the figures are those of its first event at best: the gate gives what was used so far.
    const end: GenerateEvent = {
      type: 'finish',
      stop: 'filter',
      ...(finish?.usage ? { usage: finish.usage } : {}),
      ...(finish?.further ? { further: finish.further } : {}),
    }
    if (this.#hasText && before.length === 0) return { stop: end }
    const starts = events.filter((event) => event.type === 'start' && !before.includes(event))
    const ends = [...this.#open].map((one): GenerateEvent => ({ type: 'item-end', index: one }))
    if (this.#hasText) return { replace: [...starts, ...before, ...ends, end] }
    const index = this.#next
    return {
      replace: [
        ...starts,
        ...before,
        ...ends,
        { type: 'item', index, item: { type: 'message', role: 'assistant', content: [] } },
        { type: 'part', index, kind: 'text' },
        { type: 'delta', index, text: message },
        { type: 'item-end', index },
        end,
      ],
    }
  }
}
