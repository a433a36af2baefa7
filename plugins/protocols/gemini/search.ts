import type { Annotation, Json, JsonObject, OpaqueItem, OpaqueTool, SearchedPage } from '../../../engine/index.ts'
import { asText, isObject, word } from '../../../engine/kit.ts'
import type { Printing } from './printing.ts'
import { protocol } from './wire.ts'

/** The tool for an upstream; none, and a loss, if the upstream cannot search or cannot apply the restrictions. */
export function printSearch(tool: OpaqueTool, beside: boolean, printing: Printing): readonly JsonObject[] {
  const { protocol: from, value, search = {} } = tool
  const { losses, traits } = printing
  const { allowedDomains, blockedDomains, contextSize, maxUses, location, further = [] } = search
  const own = from === protocol
  const obstacle =
    !own && !traits.web_search
      ? 'the provider cannot search the web'
      : (allowedDomains ?? (own ? undefined : blockedDomains))
        ? 'no domains can be named here'
        : beside && !traits.search_with_functions && !own
          ? 'the provider takes it only without functions'
          : undefined
  if (obstacle !== undefined) {
    losses.add('tools[].web_search', obstacle)
    return []
  }
  if (contextSize !== undefined) losses.add('tools[].search_context_size', 'the protocol has no such field')
  if (maxUses !== undefined) losses.add('tools[].max_uses', 'the protocol has no such field')
  if (location) losses.add('tools[].user_location', 'the protocol has no such field')
  if (own) return [value]
  for (const field of further) losses.add(`tools[].${word(field)}`, `only ${from} has it`)
  return [{ googleSearch: {} }]
}

/** The search that the grounding of an answer describes; undefined if it searched nothing. */
export function searchItem(grounding: JsonObject, id: string): OpaqueItem | undefined {
  const queries = texts(grounding.webSearchQueries)
  const found = pagesOf(grounding).filter((page) => page !== undefined)
  if (queries.length === 0 && found.length === 0) return undefined
  const value = { groundingMetadata: grounding }
  return { type: 'opaque', protocol, value, role: 'assistant', search: { id, queries, found } }
}

/** The pages of a grounding, by their index; undefined for chunks that are no web pages. */
function pagesOf({ groundingChunks: chunks }: JsonObject): readonly (SearchedPage | undefined)[] {
  return (Array.isArray(chunks) ? chunks : []).map((chunk: Json) => {
    const web = isObject(chunk) && isObject(chunk.web) ? chunk.web : {}
    const { uri, title } = web
    if (typeof uri !== 'string') return undefined
    return { url: uri, ...(typeof title === 'string' ? { title } : {}) }
  })
}

/** The citations of a text: one for each page that supports a segment of it. */
export function citations(grounding: JsonObject, text: string): readonly Annotation[] {
  const { groundingSupports: supports } = grounding
  if (!Array.isArray(supports) || supports.length === 0) return []
  const pages = pagesOf(grounding)
  const bytes = Buffer.from(text)
  return supports.filter(isObject).flatMap(({ segment, groundingChunkIndices: indices }) => {
    const range = rangeOf(isObject(segment) ? segment : {}, text, bytes)
    if (!range || !Array.isArray(indices)) return []
    const cited = indices.map((index) => pages[Number(index)]).filter((page) => page !== undefined)
    return cited.map(({ url, title = url }) => ({ type: 'url' as const, url, title, ...range }))
  })
}

/** A segment in characters. The vendor counts bytes of UTF-8, of a part whose place in the text is not known. */
function rangeOf(segment: JsonObject, text: string, bytes: Buffer): { start: number; end: number } | undefined {
  const { startIndex = 0, endIndex, text: quoted } = segment
  if (typeof startIndex !== 'number' || typeof endIndex !== 'number') return undefined
  const start = bytes.subarray(0, startIndex).toString().length
  const end = start + bytes.subarray(startIndex, endIndex).toString().length
  if (typeof quoted !== 'string' || text.slice(start, end) === quoted)
    return end > text.length ? undefined : { start, end }
  const at = text.indexOf(quoted)
  return at < 0 ? undefined : { start: at, end: at + quoted.length }
}

function texts(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(asText).filter((text) => text !== '') : []
}
