import type { Asked, Frame, JsonObject, OpaqueItem, ToolCall } from '../../../engine/index.ts'
import type { ItemEvent } from '../in-order.ts'
import type { BlockFrames, ItemPrinter } from './frames.ts'
import { callName } from './reply-blocks.ts'
import { searchBlocks } from './web-search.ts'

/** A call. Its arguments are sent as at least one delta, because clients ignore those of the start. */
export class CallPrinter implements ItemPrinter {
  readonly #blocks: BlockFrames
  readonly #item: ToolCall
  #told = false

  constructor(item: ToolCall, blocks: BlockFrames) {
    this.#item = item
    this.#blocks = blocks
  }

  write(event: ItemEvent): readonly Frame[] {
    switch (event.type) {
      case 'item':
        return [this.#blocks.start({ type: 'tool_use', id: this.#item.callId, name: callName(this.#item), input: {} })]
      case 'delta':
        return event.text === '' ? [] : [this.#input(this.#piece(event.text))]
      case 'item-end':
        return [...this.#rest(), this.#blocks.stop()]
      default:
        return []
    }
  }

  #input(json: string): Frame {
    this.#told = true
    return this.#blocks.delta({ type: 'input_json_delta', partial_json: json })
  }

  /** Free text is sent as the string property `input`, escaped delta by delta. */
  #piece(text: string): string {
    if (this.#item.kind === 'function') return text
    return `${this.#told ? '' : '{"input":"'}${JSON.stringify(text).slice(1, -1)}`
  }

  #rest(): readonly Frame[] {
    if (this.#item.kind === 'custom') return [this.#input(this.#told ? '"}' : '{"input":""}')]
    return this.#told ? [] : [this.#input('{}')]
  }
}

/** A block that only this protocol has, unchanged. Its arguments are sent like those of a call. */
export class OpaquePrinter implements ItemPrinter {
  readonly #blocks: BlockFrames
  readonly #value: JsonObject

  constructor({ value }: OpaqueItem, blocks: BlockFrames) {
    this.#blocks = blocks
    this.#value = value
  }

  write(event: ItemEvent): readonly Frame[] {
    return event.type === 'item' ? blockFrames(this.#value, this.#blocks) : []
  }
}

/** A web search of another protocol. Its queries and results may be unknown until its end. */
export class SearchPrinter implements ItemPrinter {
  readonly #blocks: BlockFrames
  readonly #asked: Asked
  #item: OpaqueItem

  constructor(item: OpaqueItem, blocks: BlockFrames, asked: Asked) {
    this.#item = item
    this.#blocks = blocks
    this.#asked = asked
  }

  write(event: ItemEvent): readonly Frame[] {
    if (event.type === 'item' && event.item.type === 'opaque') this.#item = event.item
    if (event.type !== 'item-end') return []
    return searchBlocks(this.#item, this.#asked.origin).flatMap((block) => blockFrames(block, this.#blocks))
  }
}

function blockFrames(block: JsonObject, blocks: BlockFrames): readonly Frame[] {
  const { input } = block
  if (input === undefined) return [blocks.start(block), blocks.stop()]
  return [
    blocks.start({ ...block, input: {} }),
    blocks.delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) }),
    blocks.stop(),
  ]
}
