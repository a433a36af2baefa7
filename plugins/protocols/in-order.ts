import type { GenerateEvent } from '../../engine/index.ts'

/** Events about one item. */
export type ItemEvent = Extract<GenerateEvent, { readonly index: number }>

/**
 * Puts the events of an answer into the order of protocols that write one item after the other: while one is open, the
 * events of other items wait.
 */
export class InOrder {
  /** The open item. */
  #current: number | undefined
  /** Waiting events by item, in the order in which the items opened. */
  readonly #waiting = new Map<number, ItemEvent[]>();

  /** The events that can be written now. */
  *take(event: ItemEvent): Iterable<ItemEvent> {
    const { index, type } = event
    if (this.#current === undefined && type === 'item') this.#current = index
    if (this.#current === index) {
      yield event
      if (type === 'item-end') yield* this.#next()
    } else if (type === 'item') this.#waiting.set(index, [event])
    else this.#waiting.get(index)?.push(event)
  }

  /** Ends every item that is still open. */
  *flush(): Iterable<ItemEvent> {
    while (this.#current !== undefined) yield* this.take({ type: 'item-end', index: this.#current })
  }

  /** The item that has waited longest, and the items after it as long as they are complete. */
  *#next(): Iterable<ItemEvent> {
    this.#current = undefined
    for (const [index, events] of this.#waiting) {
      this.#waiting.delete(index)
      this.#current = index
      yield* events
      if (events.at(-1)?.type !== 'item-end') return
      this.#current = undefined
    }
  }
}
