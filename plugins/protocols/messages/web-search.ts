import { legalCallId, packSeal, searchInWords, searchWish, unpackSeal, isObject, word } from '../../../engine/kit.ts'
import type {
  Annotation,
  Json,
  JsonObject,
  Item,
  OpaqueItem,
  OpaqueTool,
  Search,
  SearchWish,
} from '../../../engine/index.ts'
import type { Printing } from './printing.ts'
import type { Block, WireTool, WireToolChoice } from './wire.ts'
import { protocol } from './wire.ts'

/** The tool's type ends in the date of its version. Every upstream of the protocol has this one. */
const dated = /^web_search_\d{8}$/
const usual = 'web_search_20250305'
/** The fixed name of the tool. */
const name = 'web_search'
const neutral = ['type', 'name', 'allowed_domains', 'blocked_domains', 'max_uses', 'user_location', 'cache_control']

export function isSearch({ type }: { readonly type?: Json | undefined }): boolean {
  return typeof type === 'string' && dated.test(type)
}

/** The options of a web search tool; undefined for any other tool. */
export function parseWish(tool: WireTool & JsonObject): SearchWish | undefined {
  if (!isSearch(tool)) return undefined
  return searchWish({
    allowedDomains: tool['allowed_domains'],
    blockedDomains: tool['blocked_domains'],
    maxUses: tool['max_uses'],
    location: tool['user_location'],
    further: Object.keys(tool).filter((field) => !neutral.includes(field) && tool[field] !== null),
  })
}

/** Whether a tool choice names the web search of these tools. */
export function choosesSearch(choice: WireToolChoice, tools: readonly WireTool[]): boolean {
  return choice.type === 'tool' && choice.name === name && tools.some(isSearch)
}

export const searchChoice = { type: 'tool', name } as const

/** The tool for an upstream; undefined, and a loss, if the upstream cannot search or cannot apply the restrictions. */
export function printWish(
  { protocol: from, value, search = {} }: OpaqueTool,
  printing: Printing,
): JsonObject | undefined {
  const { allowedDomains, blockedDomains, contextSize, maxUses, location, further = [] } = search
  const { losses, traits } = printing
  const own = from === protocol
  if (!own && !traits.web_search) return lost('the provider cannot search the web', printing)
  if (allowedDomains && blockedDomains) return lost('domains are either allowed or blocked here', printing)
  if (contextSize !== undefined) losses.add('tools[].search_context_size', 'the protocol has no such field')
  if (!own) for (const field of further) losses.add(`tools[].${word(field)}`, `only ${from} knows it`)
  // Blocked domains have no effect beside allowed ones, and the protocol rejects both together.
  const { blocked_domains: _, ...unblocked } = value
  const written = allowedDomains ? unblocked : value
  return {
    ...(own ? written : { type: usual, name }),
    ...(allowedDomains ? { allowed_domains: allowedDomains } : {}),
    ...(blockedDomains ? { blocked_domains: blockedDomains } : {}),
    ...(maxUses === undefined ? {} : { max_uses: maxUses }),
    ...(location && !own ? { user_location: { type: 'approximate', ...location } } : {}),
  }
}

function lost(because: string, { losses }: Printing): undefined {
  losses.add('tools[].web_search', because)
}

/** The web search of a block: its call or its results; undefined for any other block. */
export function searchOf(block: JsonObject): Search | undefined {
  if (block.type === 'server_tool_use' && block.name === name) {
    const query = isObject(block.input) ? block.input.query : undefined
    return { id: wordOf(block.id), queries: typeof query === 'string' ? [query] : [] }
  }
  if (block.type !== 'web_search_tool_result') return undefined
  const id = wordOf(block.tool_use_id)
  if (!Array.isArray(block.content)) {
    const code = isObject(block.content) ? block.content.error_code : undefined
    return { id, found: [], failed: typeof code === 'string' ? code : 'unavailable' }
  }
  const pages = block.content.filter(isObject).filter(({ url }) => typeof url === 'string')
  const found = pages.map(({ url, title }) => ({
    url: url as string,
    ...(typeof title === 'string' ? { title } : {}),
  }))
  return { id, found }
}

/** A block of an answer as an item, with its web search, if any. */
export function opaqueItem(value: JsonObject, role: 'user' | 'assistant'): OpaqueItem {
  const search = searchOf(value)
  return { type: 'opaque', protocol, value, role, ...(search ? { search } : {}) }
}

function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Parses a block that a client sends back. This gateway prints the results of another protocol's search with that
 * protocol's item sealed in them. Such a block becomes the sealed item again, and the preceding block of its call is
 * removed.
 */
export function replayedItem(block: Block, role: 'user' | 'assistant', before: Item[]): Item {
  const item = opaqueItem(block, role)
  const { search } = item
  if (!search) return item
  const told = { ...item, instead: searchInWords(search) }
  const packed = search.found && sealed(block)
  if (!packed) return told
  const at = before.findLastIndex((one) => one.type === 'opaque' && one.search?.id === search.id && one.search.queries)
  const [call] = at < 0 ? [] : before.splice(at, 1)
  const queries = call?.type === 'opaque' ? call.search?.queries : undefined
  const whole = { ...search, ...(queries ? { queries } : {}) }
  return { type: 'opaque', ...packed, search: whole, instead: searchInWords(whole) }
}

function sealed({ content }: JsonObject): { readonly protocol: string; readonly value: JsonObject } | undefined {
  const [first] = Array.isArray(content) ? content : []
  const seal = isObject(first) && typeof first.encrypted_content === 'string' ? first.encrypted_content : ''
  const packed = unpackSeal(seal)?.value
  if (!isObject(packed) || typeof packed.protocol !== 'string' || !isObject(packed.value)) return undefined
  return { protocol: packed.protocol, value: packed.value }
}

/** The blocks of another protocol's web search, for a client. */
export function searchBlocks({ protocol: from, value, search }: OpaqueItem, origin: string): readonly JsonObject[] {
  if (!search) return []
  const { queries, found, failed } = search
  const id = `srvtoolu_${legalCallId(search.id).replaceAll('-', '_')}`
  const caller = { type: 'direct' }
  const call = { type: 'server_tool_use', id, name, input: { query: (queries ?? []).join('; ') }, caller }
  const result = (content: Json) => ({ type: 'web_search_tool_result', tool_use_id: id, caller, content })
  const pages = (found ?? []).map(({ url, title = url }, at) => ({
    type: 'web_search_result',
    url,
    title,
    encrypted_content: packSeal(origin, at === 0 ? { protocol: from, value } : null),
    page_age: null,
  }))
  const error = { type: 'web_search_tool_result_error', error_code: 'unavailable' }
  return [...(queries ? [call] : []), ...(failed === undefined ? (found ? [result(pages)] : []) : [result(error)])]
}

/** A citation for a client. In place of the vendor's search index, citations of other protocols have a seal. */
export function citation(annotation: Annotation, origin: string): JsonObject | undefined {
  const own = annotation.type === 'url' ? annotation.own : annotation
  if (own?.protocol === protocol) return own.value
  if (annotation.type !== 'url') return undefined
  const { url, title } = annotation
  return { type: 'web_search_result_location', url, title, cited_text: '', encrypted_index: packSeal(origin, null) }
}

/** A citation of an answer or of a client's history, over `length` characters of text. */
export function parseCitation(value: JsonObject, length: number): Annotation {
  const { url, title, encrypted_index: index } = value
  if (typeof url !== 'string') return { type: 'opaque', protocol, value }
  const known = { type: 'url', url, title: typeof title === 'string' ? title : url, start: 0, end: length } as const
  return typeof index === 'string' && unpackSeal(index) ? known : { ...known, own: { protocol, value } }
}

/** Whether an item is a web search of another protocol, which the vendor's usage does not count. */
export function isForeignSearch(item: Item): boolean {
  return item.type === 'opaque' && item.protocol !== protocol && item.search !== undefined
}

/** The counter of web searches in an answer's usage. */
export function searchCounter(count: number): JsonObject {
  return count > 0 ? { server_tool_use: { web_search_requests: count, web_fetch_requests: 0 } } : {}
}
