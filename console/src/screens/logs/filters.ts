import type { Query } from '../../api/ask.ts'
import { allOf } from '../../app/search.ts'
import type { Search } from '../../app/search.ts'
import type { FilterField, FilterValue } from '../../parts/FilterBar.tsx'
import { words } from './words.ts'

const plain = (values: readonly string[]): readonly FilterValue[] => values.map((value) => ({ value, label: value }))

/** Types that count what others cause, and are shown only when they are asked for. */
const hidden = new Set(['judge', 'test'])

/** Types of the pipelines that the gateway brings; the log knows those of others. */
const types = [
  'chat',
  'responses',
  'messages',
  'gemini',
  'decisions',
  'mapeval',
  'embeddings',
  'images',
  'audio',
  'realtime',
  'mcp',
  'compact',
  'count_tokens',
  'models',
  'stored-responses',
  'judge',
  'test',
]

export const allTypes = (used: readonly string[]): readonly string[] => [...new Set([...types, ...used])]

export interface Suggested {
  readonly types: readonly string[]
  readonly keys?: readonly FilterValue[] | undefined
  readonly models?: readonly FilterValue[] | undefined
  readonly providers?: readonly FilterValue[] | undefined
  readonly members?: readonly FilterValue[] | undefined
}

/** The filters of the log in the order of the menu. */
export function fieldsOf({ types: used, keys, models, providers, members }: Suggested): readonly FilterField[] {
  const { fields, results } = words
  const some = (values: readonly FilterValue[] | undefined) => (values ? { values } : {})
  return [
    { name: 'status', label: fields.status, values: plain(['2xx', '4xx', '5xx', '429']), typed: true, example: '4xx' },
    {
      name: 'result',
      label: fields.result,
      values: Object.entries(results).map(([value, label]) => ({ value, label })),
    },
    { name: 'model', label: fields.model, ...some(models), typed: true },
    { name: 'requested', label: fields.requested, ...some(models), typed: true },
    { name: 'key', label: fields.key, ...some(keys), typed: !keys },
    { name: 'provider', label: fields.provider, ...some(providers), typed: true },
    { name: 'member', label: fields.member, ...some(members), typed: !members },
    { name: 'type', label: fields.type, values: plain(allTypes(used)) },
    { name: 'error', label: fields.error, typed: true, example: 'upstream_error' },
    { name: 'tag', label: fields.tag, typed: true, example: 'team:search' },
    { name: 'tier', label: fields.tier, values: plain(['SIMPLE', 'MEDIUM', 'COMPLEX']) },
    {
      name: 'stream',
      label: fields.stream,
      values: [
        { value: 'true', label: words.yes },
        { value: 'false', label: words.no },
      ],
    },
    { name: 'min_cost', label: fields.minCost, typed: true, example: '0.01' },
    { name: 'min_duration_ms', label: fields.minDuration, typed: true, example: '5000' },
    { name: 'protocol', label: fields.protocol, typed: true, example: 'messages' },
    { name: 'parent', label: fields.parent, typed: true },
    { name: 'search', label: fields.search, typed: true },
  ]
}

/** What the routes of the log can be asked to leave out, and so what an address may hold. */
const names = [
  'status',
  'result',
  'model',
  'requested',
  'key',
  'provider',
  'member',
  'type',
  'error',
  'tag',
  'tier',
  'stream',
  'min_cost',
  'min_duration_ms',
  'protocol',
  'parent',
  'search',
]

export const isFiltered = (search: Search): boolean => names.some((name) => name in search)

/** The filters of an address as the routes of the log take them. */
export function filtersIn(search: Search, used: readonly string[]): Query {
  const filters: Record<string, readonly string[]> = {}
  for (const name of names) {
    const values = allOf(search, name)
    if (values.length > 0) filters[name] = values
  }
  // One request by its id, or the parts of one, are shown whatever their type is.
  const isSome = ['type', 'search', 'parent'].some((name) => name in filters)
  return isSome ? filters : { ...filters, type: allTypes(used).filter((type) => !hidden.has(type)) }
}
