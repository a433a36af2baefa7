import type { GenerateEvent, JsonObject, Restore, Seal } from '../../../engine/index.ts'
import { CustomInput, isObject, parseVerbatim, restored } from '../../../engine/kit.ts'
import { opaqueItem, parseCitation } from './web-search.ts'

/** Parses a content block of a streamed answer. */
export interface BlockParser {
  /** The events of its `content_block_start`, which may contain the whole block. */
  open(): readonly GenerateEvent[]
  delta(delta: JsonObject): readonly GenerateEvent[]
  close(): readonly GenerateEvent[]
}

/** A text block: one part of the message item `index`. */
export class TextParser implements BlockParser {
  readonly #index: number
  readonly #block: JsonObject
  readonly #citations: JsonObject[]
  #length = 0

  constructor(index: number, block: JsonObject) {
    this.#index = index
    this.#block = block
    this.#citations = Array.isArray(block.citations) ? block.citations.filter(isObject) : []
  }

  open(): readonly GenerateEvent[] {
    return [{ type: 'part', index: this.#index, kind: 'text' }, ...this.#text(this.#block.text)]
  }

  delta(delta: JsonObject): readonly GenerateEvent[] {
    if (delta.type === 'text_delta') return this.#text(delta.text)
    if (delta.type === 'citations_delta' && isObject(delta.citation)) this.#citations.push(delta.citation)
    return []
  }

  /** Citations cover the whole block, so they are emitted once its length is known. */
  close(): readonly GenerateEvent[] {
    const annotations = this.#citations.map((citation) => parseCitation(citation, this.#length))
    return annotations.map((annotation) => ({ type: 'annotation', index: this.#index, annotation }))
  }

  #text(text: unknown): readonly GenerateEvent[] {
    if (typeof text !== 'string' || text === '') return []
    this.#length += text.length
    return [{ type: 'delta', index: this.#index, text }]
  }
}

/**
 * A thinking block: the reasoning item `index`. It may have only a signature without text, or be redacted.
 */
export class ThinkingParser implements BlockParser {
  readonly #index: number
  readonly #block: JsonObject
  #seal: Seal | undefined
  #told = false

  constructor(index: number, block: JsonObject) {
    this.#index = index
    this.#block = block
    this.#seal = sealOf('redacted', block.data) ?? sealOf('signature', block.signature)
  }

  open(): readonly GenerateEvent[] {
    const item: GenerateEvent = { type: 'item', index: this.#index, item: { type: 'reasoning', parts: [] } }
    return [item, ...this.#text(this.#block.thinking)]
  }

  delta(delta: JsonObject): readonly GenerateEvent[] {
    if (delta.type === 'thinking_delta') return this.#text(delta.thinking)
    if (delta.type === 'signature_delta') this.#seal = sealOf('signature', delta.signature) ?? this.#seal
    return []
  }

  close(): readonly GenerateEvent[] {
    const index = this.#index
    const end: GenerateEvent = { type: 'item-end', index }
    return this.#seal ? [{ type: 'seal', index, seal: this.#seal }, end] : [end]
  }

  #text(text: unknown): readonly GenerateEvent[] {
    if (typeof text !== 'string' || text === '') return []
    const delta: GenerateEvent = { type: 'delta', index: this.#index, text }
    if (this.#told) return [delta]
    this.#told = true
    return [{ type: 'part', index: this.#index, kind: 'summary' }, delta]
  }
}

function sealOf(kind: Seal['kind'], data: unknown): Seal | undefined {
  return typeof data === 'string' && data !== '' ? { kind, data } : undefined
}

/** A call of a client's tool: the call item `index`. */
export class CallParser implements BlockParser {
  readonly #index: number
  readonly #block: JsonObject
  readonly #tool: ReturnType<typeof restored>
  /** Unwraps the text of a custom tool that was sent as a function. */
  readonly #custom: CustomInput | undefined
  #told = false

  constructor(index: number, block: JsonObject, restore: Restore | undefined) {
    this.#index = index
    this.#block = block
    this.#tool = restored(restore, typeof block.name === 'string' ? block.name : '')
    this.#custom = this.#tool.kind === 'custom' ? new CustomInput() : undefined
  }

  open(): readonly GenerateEvent[] {
    const { id } = this.#block
    const callId = typeof id === 'string' && id !== '' ? id : `call_${this.#index}`
    return [{ type: 'item', index: this.#index, item: { type: 'call', ...this.#tool, callId, input: '' } }]
  }

  delta(delta: JsonObject): readonly GenerateEvent[] {
    if (delta.type !== 'input_json_delta' || typeof delta.partial_json !== 'string' || delta.partial_json === '')
      return []
    this.#told = true
    return this.#input(this.#custom ? this.#custom.push(delta.partial_json) : delta.partial_json)
  }

  /** Without deltas, the arguments are those of the start, usually none. */
  close(): readonly GenerateEvent[] {
    const { input } = this.#block
    const json = JSON.stringify(isObject(input) ? input : {})
    const whole = this.#told ? [] : this.delta({ type: 'input_json_delta', partial_json: json })
    const left = this.#custom ? this.#input(this.#custom.end()) : []
    return [...whole, ...left, { type: 'item-end', index: this.#index }]
  }

  #input(text: string): readonly GenerateEvent[] {
    return text === '' ? [] : [{ type: 'delta', index: this.#index, text }]
  }
}

/** A block without a neutral form, such as a call of the vendor's own tools. It is emitted as one item at its end. */
export class OpaqueParser implements BlockParser {
  readonly #index: number
  readonly #block: JsonObject
  #input = ''
  /** The summary in a compaction. */
  #content: string | undefined

  constructor(index: number, block: JsonObject) {
    this.#index = index
    this.#block = block
  }

  open(): readonly GenerateEvent[] {
    return []
  }

  delta(delta: JsonObject): readonly GenerateEvent[] {
    if (delta.type === 'input_json_delta' && typeof delta.partial_json === 'string') this.#input += delta.partial_json
    if (delta.type === 'compaction_delta' && typeof delta.content === 'string')
      this.#content = (this.#content ?? '') + delta.content
    return []
  }

  /** Throws a `SyntaxError` if the joined deltas of the input are not JSON. */
  close(): readonly GenerateEvent[] {
    const index = this.#index
    const value = {
      ...this.#block,
      ...(this.#input === '' ? {} : { input: parseVerbatim(this.#input, 'all') as JsonObject }),
      ...(this.#content === undefined ? {} : { content: this.#content }),
    }
    return [
      { type: 'item', index, item: opaqueItem(value, 'assistant') },
      { type: 'item-end', index },
    ]
  }
}
