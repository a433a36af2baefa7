import type { GenerateEvent, JsonObject, OpaqueItem, Search } from '../../engine/index.ts'
import { itemId } from './response.ts'
import { protocol, text } from './values.ts'
import { searchItem } from './web-search.ts'

/** The stream that items are written to. */
export interface Output {
  /** Items by their place; those under way, too. */
  readonly items: JsonObject[]
  /** Takes the next place. */
  next(): number
  emit(type: string, fields: JsonObject): void
}

/** A search of another protocol: its call has been told, what it found has not. */
interface OpenSearch {
  readonly at: number
  readonly id: string
  readonly search: Search
}

/** Writes items that the vendors run: this protocol's own as they come, and another one's searches as items of this one. */
export class NativeItems {
  readonly #output: Output
  readonly #exchange: string
  /** The client is shown the pages that a search has found. */
  readonly #sources: boolean
  /** Places of the own items that are under way, by the neutral index. */
  readonly #open = new Map<number, number>()
  readonly #searches = new Map<string, OpenSearch>()

  constructor(output: Output, exchange: string, showsSources: boolean) {
    this.#output = output
    this.#exchange = exchange
    this.#sources = showsSources
  }

  /** An item as it opens or as it has become; false for one that cannot be written. */
  take(index: number, { protocol: from, value, search }: OpaqueItem): boolean {
    if (from !== protocol) return search ? this.#search(search) : false
    const at = this.#open.get(index)
    if (at !== undefined) {
      this.#output.items[at] = value
      return true
    }
    this.#open.set(index, this.#add(this.#output.next(), value))
    return true
  }

  progress({ index, protocol: from, value }: Extract<GenerateEvent, { type: 'progress' }>): void {
    const at = this.#open.get(index)
    const { type, ...fields } = value
    if (at !== undefined && from === protocol) this.#output.emit(text(type) ?? '', { ...fields, output_index: at })
  }

  /** The item has ended; false for one that is not under way here. */
  end(index: number): boolean {
    const at = this.#open.get(index)
    if (at === undefined) return false
    this.#open.delete(index)
    this.#done(at, this.#output.items[at] ?? {})
    return true
  }

  /** Ends what is under way. */
  finish(): void {
    for (const index of this.#open.keys()) this.end(index)
    for (const { search } of this.#searches.values()) this.#search({ id: search.id, found: [] })
  }

  #search(told: Search): true {
    const open = this.#searches.get(told.id) ?? this.#begin(told)
    if (!told.found && told.failed === undefined) return true
    this.#searches.delete(told.id)
    const item = searchItem(open.id, { ...told, queries: open.search.queries ?? [] }, this.#sources)
    this.#output.items[open.at] = item
    if (told.failed === undefined) this.#tell(open, 'completed')
    this.#done(open.at, item)
    return true
  }

  #begin({ id, queries = [] }: Search): OpenSearch {
    const at = this.#output.next()
    const open = { at, id: itemId('ws', this.#exchange, at), search: { id, queries } }
    this.#searches.set(id, open)
    this.#add(at, searchItem(open.id, open.search, false))
    this.#tell(open, 'in_progress')
    this.#tell(open, 'searching')
    return open
  }

  #tell({ at, id }: OpenSearch, what: 'in_progress' | 'searching' | 'completed'): void {
    this.#output.emit(`response.web_search_call.${what}`, { output_index: at, item_id: id })
  }

  #add(at: number, item: JsonObject): number {
    this.#output.items[at] = item
    this.#output.emit('response.output_item.added', { output_index: at, item })
    return at
  }

  #done(at: number, item: JsonObject): void {
    this.#output.emit('response.output_item.done', { output_index: at, item })
  }
}
