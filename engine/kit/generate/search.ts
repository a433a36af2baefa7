import type { Message } from '../../spec/generate.ts'
import { isObject } from '../../spec/json.ts'
import type { Json } from '../../spec/json.ts'
import type { Search, SearchLocation, SearchWish } from '../../spec/search.ts'

/** The fields of a web search tool as a client sent them. */
export interface SearchFields {
  readonly allowedDomains?: Json | undefined
  readonly blockedDomains?: Json | undefined
  readonly contextSize?: Json | undefined
  readonly maxUses?: Json | undefined
  readonly location?: Json | undefined
  /** Names of fields that are set and that no other protocol has. */
  readonly further: readonly string[]
}

/** The search options that a client requests; fields of a wrong type are ignored. */
export function searchWish(fields: SearchFields): SearchWish {
  const { contextSize, maxUses, further } = fields
  const allowedDomains = domains(fields.allowedDomains)
  const blockedDomains = domains(fields.blockedDomains)
  const location = locationOf(fields.location)
  return {
    ...(allowedDomains ? { allowedDomains } : {}),
    ...(blockedDomains ? { blockedDomains } : {}),
    ...(typeof contextSize === 'string' ? { contextSize } : {}),
    ...(typeof maxUses === 'number' ? { maxUses } : {}),
    ...(location ? { location } : {}),
    ...(further.length > 0 ? { further } : {}),
  }
}

function domains(value: Json | undefined): readonly string[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  return value.filter((domain): domain is string => typeof domain === 'string')
}

const places = ['city', 'country', 'region', 'timezone'] as const

function locationOf(value: Json | undefined): SearchLocation | undefined {
  if (!isObject(value)) return undefined
  const named = places
    .filter((place) => typeof value[place] === 'string')
    .map((place) => [place, value[place]] as const)
  return named.length > 0 ? Object.fromEntries(named) : undefined
}

/** A search as text of the assistant, for a model that cannot read the search item itself. */
export function searchInWords({ queries, found, failed }: Search): Message {
  const asked = queries ? [`I searched the web for: ${queries.join('; ')}`] : []
  const told = failed === undefined ? foundInWords(found, asked.length > 0) : ['The search failed.']
  return { type: 'message', role: 'assistant', content: [{ type: 'text', text: [...asked, ...told].join('\n') }] }
}

function foundInWords(found: Search['found'], asked: boolean): readonly string[] {
  if (!found) return []
  const pages = found.map(({ url, title = url }) => (title === url ? `- ${url}` : `- ${title}: ${url}`))
  // An item with queries alone may simply not carry its results.
  if (pages.length === 0) return asked ? [] : ['The search found nothing.']
  return ['The search found:', ...pages]
}
