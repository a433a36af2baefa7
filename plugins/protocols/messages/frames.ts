import type { Frame, JsonObject } from '../../../engine/index.ts'
import type { ItemEvent } from '../in-order.ts'

/** Writes the blocks of one item. */
export interface ItemPrinter {
  write(event: ItemEvent): readonly Frame[]
}

/** Numbers the blocks of an answer; one is open at a time. */
export class BlockFrames {
  #index = -1

  start(block: JsonObject): Frame {
    this.#index++
    return frame({ type: 'content_block_start', index: this.#index, content_block: block })
  }

  delta(delta: JsonObject): Frame {
    return frame({ type: 'content_block_delta', index: this.#index, delta })
  }

  stop(): Frame {
    return frame({ type: 'content_block_stop', index: this.#index })
  }
}

/** An event for a client. Official clients read its type only from the name of the frame. */
export function frame(event: JsonObject & { readonly type: string }): Frame {
  return { event: event.type, data: JSON.stringify(event) }
}
