import type { Asked, Frame, JsonObject, Reasoning, Seal } from '../../../engine/index.ts'
import type { Losses } from '../../../engine/kit.ts'
import type { ItemEvent } from '../in-order.ts'
import type { BlockFrames, ItemPrinter } from './frames.ts'
import { replyCitations } from './reply-blocks.ts'
import { messageSeal, pack, partBreak } from './thinking.ts'

/** Prints a message: a text block for each part that has text, and its seal as redacted thinking. */
export class TextPrinter implements ItemPrinter {
  readonly #blocks: BlockFrames
  readonly #asked: Asked
  readonly #losses: Losses
  #open = false
  #seal: Seal | undefined

  constructor(blocks: BlockFrames, asked: Asked, losses: Losses) {
    this.#blocks = blocks
    this.#asked = asked
    this.#losses = losses
  }

  write(event: ItemEvent): readonly Frame[] {
    switch (event.type) {
      case 'delta': {
        if (event.logprobs) this.#losses.add('logprobs', 'the protocol has no such field')
        if (event.text === '') return []
        return this.#begun({ type: 'text_delta', text: event.text })
      }
      case 'annotation':
        return replyCitations([event.annotation], this.#asked, this.#losses).flatMap((citation) =>
          this.#begun({ type: 'citations_delta', citation }),
        )
      case 'seal':
        this.#seal = event.seal
        return []
      case 'part':
        return this.#stop()
      case 'item-end':
        return [...this.#stop(), ...this.#sealed()]
      default:
        return []
    }
  }

  #begun(delta: JsonObject): readonly Frame[] {
    if (this.#open) return [this.#blocks.delta(delta)]
    this.#open = true
    return [this.#blocks.start({ type: 'text', text: '' }), this.#blocks.delta(delta)]
  }

  #stop(): readonly Frame[] {
    if (!this.#open) return []
    this.#open = false
    return [this.#blocks.stop()]
  }

  #sealed(): readonly Frame[] {
    const block = messageSeal(this.#seal, this.#asked.origin)
    return block ? [this.#blocks.start(block), this.#blocks.stop()] : []
  }
}

/** Prints reasoning: a thinking block with its seal as signature, or a redacted one without readable text. */
export class ThinkingPrinter implements ItemPrinter {
  readonly #item: Reasoning
  readonly #blocks: BlockFrames
  readonly #origin: string
  readonly #shape: ['summary' | 'text', number][] = []
  #seal: Reasoning['seal']
  #open = false

  constructor(item: Reasoning, blocks: BlockFrames, origin: string) {
    this.#item = item
    this.#blocks = blocks
    this.#origin = origin
    this.#seal = item.seal
  }

  write(event: ItemEvent): readonly Frame[] {
    switch (event.type) {
      case 'part':
        this.#shape.push([event.kind === 'summary' ? 'summary' : 'text', 0])
        return this.#shape.length > 1 ? this.#think(partBreak) : []
      case 'delta': {
        const part = this.#shape.at(-1)
        if (part) part[1] += event.text.length
        return event.text === '' ? [] : this.#think(event.text)
      }
      case 'seal':
        this.#seal = event.seal
        return []
      case 'item-end':
        return this.#end()
      default:
        return []
    }
  }

  #think(thinking: string): readonly Frame[] {
    const started = this.#open ? [] : this.#start()
    return [...started, this.#blocks.delta({ type: 'thinking_delta', thinking })]
  }

  #start(): readonly Frame[] {
    this.#open = true
    return [this.#blocks.start({ type: 'thinking', thinking: '', signature: '' })]
  }

  #end(): readonly Frame[] {
    const seal = this.#seal
    if (!seal && !this.#open) return []
    const signature = pack({ ...this.#item, ...(seal ? { seal } : {}) }, this.#shape, this.#origin)
    if (seal && !this.#open && seal.kind !== 'signature')
      return [this.#blocks.start({ type: 'redacted_thinking', data: signature }), this.#blocks.stop()]
    const started = this.#open ? [] : this.#start()
    return [...started, this.#blocks.delta({ type: 'signature_delta', signature }), this.#blocks.stop()]
  }
}
