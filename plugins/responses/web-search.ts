import { defined, searchInWords, searchWish, word } from '../../engine/kit.ts'
import type { Json, JsonObject, Message, OpaqueTool, Search, SearchWish } from '../../engine/index.ts'
import type { Printing } from './print-parts.ts'
import { isList, noSuchField, object, objects, protocol, text, without } from './values.ts'

/** The tool has a plain and a preview type, each optionally with the date of its version. */
const types = /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/
const neutral = new Set(['type', 'filters', 'search_context_size', 'user_location'])
const domainFields = new Set(['allowed_domains', 'blocked_domains'])

/** The value of `include` for the pages that a search found. */
export const sources = 'web_search_call.action.sources'

export function isSearch({ type }: JsonObject): boolean {
  return typeof type === 'string' && types.test(type)
}

/** The options of a web search tool; undefined for any other tool. */
export function parseWish(tool: JsonObject): SearchWish | undefined {
  if (!isSearch(tool)) return undefined
  const { allowed_domains: allowedDomains, blocked_domains: blockedDomains } = object(tool['filters']) ?? {}
  const { search_context_size: contextSize, user_location: location } = tool
  const further = Object.keys(tool).filter(
    (field) => !neutral.has(field) && tool[field] !== null && tool[field] !== true,
  )
  return searchWish({ allowedDomains, blockedDomains, contextSize, location, further })
}

/** The tool for an upstream; undefined, and a loss, if the upstream cannot search. */
export function printWish(tool: OpaqueTool, { losses, traits }: Printing): JsonObject | undefined {
  const { protocol: from, value, search = {} } = tool
  const { allowedDomains, blockedDomains, contextSize, maxUses, location, further = [] } = search
  const own = from === protocol
  if (!own && !traits.web_search) {
    losses.add('tools[].web_search', 'the provider cannot search the web')
    return undefined
  }
  if (maxUses !== undefined) losses.add('tools[].max_uses', noSuchField)
  if (!own) for (const field of further) losses.add(`tools[].${word(field)}`, `only ${from} has this field`)
  const filters = defined({ allowed_domains: allowedDomains, blocked_domains: blockedDomains })
  const filtered = Object.keys(filters).length > 0
  return defined({
    ...(own ? value : {}),
    // The preview accepts no filters.
    type: own && !(filtered && isPreview(value)) ? value['type'] : 'web_search',
    filters: filtered
      ? { ...without(object(value['filters']) ?? {}, domainFields), ...filters }
      : own
        ? value['filters']
        : undefined,
    search_context_size: contextSize,
    user_location: location && !own ? { type: 'approximate', ...location } : own ? value['user_location'] : undefined,
  })
}

function isPreview({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.includes('preview')
}

/** The web search of an item; undefined for other items, and for opening or reading a page. */
export function parseSearch(item: JsonObject): Search | undefined {
  const action = object(item['action'])
  if (item['type'] !== 'web_search_call' || (action && action['type'] !== 'search')) return undefined
  const { status } = item
  const ended = status !== 'in_progress' && status !== 'searching'
  const pages = objects(action?.['sources']).flatMap(({ url }) => (typeof url === 'string' ? [{ url }] : []))
  return defined({
    id: text(item['id']) ?? '',
    queries: queriesOf(action),
    found: ended ? pages : undefined,
    failed: status === 'failed' ? 'unavailable' : undefined,
  })
}

function queriesOf(action: JsonObject | undefined): readonly string[] {
  const { queries, query } = action ?? {}
  const all = isList(queries) && queries.length > 0 ? queries : [query]
  return all.filter((one: Json | undefined) => typeof one === 'string')
}

/** A search that a client sends back, as a message for other protocols. */
export function inWords(item: JsonObject): Message | undefined {
  const search = parseSearch(item)
  return search && searchInWords(search)
}

/** The item of another protocol's search, in its current state. */
export function searchItem(id: string, { queries = [], found, failed }: Search, shown: boolean): JsonObject {
  const status = failed === undefined ? (found ? 'completed' : 'in_progress') : 'failed'
  const [query = ''] = queries
  const pages = shown && found ? found.map(({ url }) => ({ type: 'url', url })) : undefined
  return {
    id,
    type: 'web_search_call',
    status,
    action: defined({ type: 'search', query, queries: queries.length > 1 ? queries : undefined, sources: pages }),
  }
}

/** Whether a body requests a web search, also by an item that adds tools. */
export function searches({ tools, input }: JsonObject): boolean {
  const brought = isList(input) ? objects(input).flatMap((item) => objects(item['tools'])) : []
  return [...objects(tools), ...brought].some(isSearch)
}
