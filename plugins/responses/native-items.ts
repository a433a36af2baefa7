import type { GenerateEvent, JsonObject, OpaqueItem, Search } from '../../engine/index.ts'
import { itemId } from './response.ts'
import { protocol, text } from './values.ts'
import { searchItem } from './web-search.ts'

/** The stream that items are printed to. */
export interface Output {
  /** Items by output index, including open ones. */
  readonly items: JsonObject[]
  /** Takes the next output index. */
  next(): number
  emit(type: string, fields: JsonObject): void
}

/** A search of another protocol whose call was printed, but not its results. */
interface OpenSearch {
  readonly at: number
  readonly id: string
  readonly search: Search
}

/** Prints the items of vendor tools: those of this protocol unchanged, and searches of other protocols as its items. */
export class NativeItems {
  readonly #output: Output
  readonly #exchange: string
  /** Whether the client sees the pages that a search found. */
  readonly #sources: boolean
  /** Output indexes of this protocol's open items, by the neutral index. */
  readonly #open = new Map<number, number>()
  readonly #searches = new Map<string, OpenSearch>()

  constructor(output: Output, exchange: string, showsSources: boolean) {
    this.#output = output
    this.#exchange = exchange
    this.#sources = showsSources
  }

  /** Prints an item that opens or has changed. Returns false if it cannot be printed. */
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

  /** Ends an item. Returns false if it is not open here. */
  end(index: number): boolean {
    const at = this.#open.get(index)
    if (at === undefined) return false
    this.#open.delete(index)
    this.#done(at, this.#output.items[at] ?? {})
    return true
  }

  /** Ends all open items. */
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
