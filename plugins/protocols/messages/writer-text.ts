import type { Frame, JsonObject, Reasoning } from '../../../engine/index.ts'
import type { BlockFrames, ItemEvent, ItemWriter } from './frames.ts'
import type { Losses } from './losses.ts'
import { nativeCitations } from './print-parts.ts'
import { pack, partBreak } from './thinking.ts'

/** A message: a text block for each part that has text. */
export class TextWriter implements ItemWriter {
  readonly #blocks: BlockFrames
  readonly #losses: Losses
  /** Addresses cited in this part, which come once natively and once for other protocols. */
  #cited = new Set<unknown>()
  #open = false

  constructor(blocks: BlockFrames, losses: Losses) {
    this.#blocks = blocks
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
        return this.#cite(event)
      case 'part':
      case 'item-end':
        return this.#stop()
      default:
        return []
    }
  }

  #begun(delta: JsonObject): readonly Frame[] {
    if (this.#open) return [this.#blocks.delta(delta)]
    this.#open = true
    return [this.#blocks.start({ type: 'text', text: '' }), this.#blocks.delta(delta)]
  }

  #cite({ annotation }: Extract<ItemEvent, { type: 'annotation' }>): readonly Frame[] {
    if (annotation.type === 'url' && this.#cited.has(annotation.url)) return []
    return nativeCitations([annotation], 'content[].annotations', this.#losses).flatMap((citation) => {
      this.#cited.add(citation.url)
      return this.#begun({ type: 'citations_delta', citation })
    })
  }

  #stop(): readonly Frame[] {
    if (!this.#open) return []
    this.#open = false
    this.#cited = new Set()
    return [this.#blocks.stop()]
  }
}

/** Reasoning: a thinking block with its seal as signature, or a redacted one when there is nothing to read. */
export class ThinkingWriter implements ItemWriter {
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
    if (!seal) return this.#open ? [this.#blocks.stop()] : []
    const signature = pack({ ...this.#item, seal }, this.#shape, this.#origin)
    if (!this.#open && seal.kind !== 'signature')
      return [this.#blocks.start({ type: 'redacted_thinking', data: signature }), this.#blocks.stop()]
    const started = this.#open ? [] : this.#start()
    return [...started, this.#blocks.delta({ type: 'signature_delta', signature }), this.#blocks.stop()]
  }
}
