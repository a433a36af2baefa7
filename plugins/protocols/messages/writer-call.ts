import type { Frame, JsonObject, OpaqueItem, ToolCall } from '../../../engine/index.ts'
import type { BlockFrames, ItemEvent, ItemWriter } from './frames.ts'
import { callName } from './reply-blocks.ts'

/** A call: its arguments go out as deltas, at least one, because clients do not read those of the start. */
export class CallWriter implements ItemWriter {
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

  /** Free text goes out as the string property `input`, escaped piece by piece. */
  #piece(text: string): string {
    if (this.#item.kind === 'function') return text
    return `${this.#told ? '' : '{"input":"'}${JSON.stringify(text).slice(1, -1)}`
  }

  #rest(): readonly Frame[] {
    if (this.#item.kind === 'custom') return [this.#input(this.#told ? '"}' : '{"input":""}')]
    return this.#told ? [] : [this.#input('{}')]
  }
}

/** A block of this protocol's own, as it came; arguments are told as those of a call are. */
export class OpaqueWriter implements ItemWriter {
  readonly #blocks: BlockFrames
  readonly #value: JsonObject

  constructor({ value }: OpaqueItem, blocks: BlockFrames) {
    this.#blocks = blocks
    this.#value = value
  }

  write(event: ItemEvent): readonly Frame[] {
    if (event.type !== 'item') return []
    const { input } = this.#value
    if (input === undefined) return [this.#blocks.start(this.#value), this.#blocks.stop()]
    const blocks = this.#blocks
    return [
      blocks.start({ ...this.#value, input: {} }),
      blocks.delta({ type: 'input_json_delta', partial_json: JSON.stringify(input) }),
      blocks.stop(),
    ]
  }
}
