import type { Frame, GenerateEvent, JsonObject } from '../../../engine/index.ts'

/** Events that tell of one item. */
export type ItemEvent = Extract<GenerateEvent, { readonly index: number }>

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

/** An event of the wire; official clients find its type by the name of the frame alone. */
export function frame(event: JsonObject & { readonly type: string }): Frame {
  return { event: event.type, data: JSON.stringify(event) }
}
