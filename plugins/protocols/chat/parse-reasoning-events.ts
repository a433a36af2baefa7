import { isObject } from '../../../engine/kit.ts'
import type { Json, JsonObject } from '../../../engine/index.ts'
import type { Events } from './events.ts'
import { merged, sealData, split } from './native-details.ts'

interface OpenBlock {
  readonly index: number
  /** The entry of `reasoning_details` without its text; undefined for bare text. */
  entry?: JsonObject
  part: boolean
}

/**
 * Parses the reasoning of compatible servers: bare text (`reasoning_content` or `reasoning`), entries of
 * `reasoning_details`, or both with the same text. The first field that has text is used.
 */
export class ReasoningParser {
  readonly #events: Events
  #open: OpenBlock | undefined
  #source: 'bare' | 'details' | undefined

  readonly #begins: () => void

  /** `begins` is called before a block opens. */
  constructor(events: Events, begins: () => void) {
    this.#events = events
    this.#begins = begins
  }

  bare(text: string): void {
    this.#source ??= 'bare'
    if (this.#source === 'bare') this.#text('reasoning', text)
  }

  details(list: readonly Json[]): void {
    for (const entry of list) if (isObject(entry)) this.#detail(entry)
  }

  /** Ends the open block with a seal that states its origin. */
  close(): void {
    if (!this.#open) return
    const { index, entry } = this.#open
    const kind = entry?.['data'] === undefined ? 'signature' : 'encrypted'
    this.#events.push({ type: 'seal', index, seal: { kind, data: sealData(entry) } })
    this.#events.push({ type: 'item-end', index })
    this.#open = undefined
  }

  #detail(given: JsonObject): void {
    const { kind, text, rest } = split(given)
    if (text !== '') this.#source ??= 'details'
    const readable = this.#source === 'details' ? text : ''
    const sealed = typeof rest['signature'] === 'string' || typeof rest['data'] === 'string'
    if (readable === '' && !sealed) return
    const block = this.#continued(rest) ?? this.#begin()
    block.entry = block.entry ? merged(block.entry, rest) : rest
    if (readable !== '') this.#text(kind, readable)
  }

  /** The open block, if the entry continues it. */
  #continued(piece: JsonObject): OpenBlock | undefined {
    const entry = this.#open?.entry
    if (!this.#open || (!entry && piece['type'] !== 'reasoning.text')) return undefined
    if (entry && (entry['type'] !== piece['type'] || entry['index'] !== piece['index'])) return undefined
    return this.#open
  }

  #text(kind: 'summary' | 'reasoning', text: string): void {
    const block = this.#open ?? this.#begin()
    if (!block.part) this.#events.push({ type: 'part', index: block.index, kind })
    block.part = true
    this.#events.push({ type: 'delta', index: block.index, text })
  }

  #begin(): OpenBlock {
    this.close()
    this.#begins()
    this.#open = { index: this.#events.open({ type: 'reasoning', parts: [] }), part: false }
    return this.#open
  }
}
