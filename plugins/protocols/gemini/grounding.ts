import type { Annotation, JsonObject, OpaqueItem, SearchedPage } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'

/** Collects what the web searches of an answer found, and what it cites, as its `groundingMetadata`. */
export class Grounding {
  #own: JsonObject | undefined
  readonly #queries: string[] = []
  readonly #pages = new Map<string, SearchedPage>()
  readonly #supports: { readonly start: number; readonly end: number; readonly url: string; readonly from: number }[] =
    []
  #text = ''
  /** Where the open part begins in the text of the answer. */
  #from = 0

  open(): void {
    this.#from = this.#text.length
  }

  say(text: string): void {
    this.#text += text
  }

  search({ protocol: from, value, search }: OpaqueItem, own: string): void {
    if (from === own && isObject(value.groundingMetadata)) this.#own = value.groundingMetadata
    this.#queries.push(...(search?.queries ?? []))
    for (const page of search?.found ?? []) this.#pages.set(page.url, page)
  }

  /** Whether the citation has a form here. */
  cite(annotation: Annotation): boolean {
    if (annotation.type !== 'url') return false
    const { url, title, start, end } = annotation
    if (!this.#pages.has(url)) this.#pages.set(url, { url, title })
    this.#supports.push({ start, end, url, from: this.#from })
    return true
  }

  /** The member of a candidate; none if nothing was searched or cited. */
  printed(): { readonly groundingMetadata?: JsonObject } {
    if (this.#own) return { groundingMetadata: this.#own }
    const pages = [...this.#pages.values()]
    if (this.#queries.length === 0 && pages.length === 0) return {}
    const indices = new Map(pages.map(({ url }, index) => [url, index]))
    return {
      groundingMetadata: {
        ...(this.#queries.length > 0 ? { webSearchQueries: this.#queries } : {}),
        ...(pages.length > 0
          ? { groundingChunks: pages.map(({ url: uri, title = uri }) => ({ web: { uri, title } })) }
          : {}),
        ...(this.#supports.length > 0
          ? {
              groundingSupports: this.#supports.map(({ start, end, url, from }) => ({
                segment: this.#segment(from + start, from + end),
                groundingChunkIndices: [indices.get(url) ?? 0],
              })),
            }
          : {}),
      },
    }
  }

  /** The vendor counts bytes of UTF-8. */
  #segment(start: number, end: number): JsonObject {
    const startIndex = Buffer.byteLength(this.#text.slice(0, start))
    const text = this.#text.slice(start, end)
    return { ...(startIndex > 0 ? { startIndex } : {}), endIndex: startIndex + Buffer.byteLength(text), text }
  }
}
