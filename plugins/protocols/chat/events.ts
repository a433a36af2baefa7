import type { GenerateEvent, Item } from '../../../engine/index.ts'

/** Numbers the items of an answer and collects the events of one frame. */
export class Events {
  #batch: GenerateEvent[] = []
  #opened = 0

  open(item: Item): number {
    const index = this.#opened++
    this.#batch.push({ type: 'item', index, item })
    return index
  }

  push(event: GenerateEvent): void {
    this.#batch.push(event)
  }

  /** Returns and clears the collected events. */
  take(): GenerateEvent[] {
    const batch = this.#batch
    this.#batch = []
    return batch
  }

  /** Whether any part of the answer has arrived. */
  get any(): boolean {
    return this.#opened > 0
  }
}
