import type { Query } from '../../api/ask.ts'
import { allOf } from '../../parts/search.ts'
import type { Search } from '../../parts/search.ts'
import { leaving, valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField, FilterValue } from '../../parts/FilterBar.tsx'
import { words } from './words.ts'

const plain = (values: readonly string[]): readonly FilterValue[] => values.map((value) => ({ value, label: value }))

/** Types that count what others cause, and are shown only when they are asked for. */
const hidden = ['judge', 'test']

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
    { name: 'result', label: fields.result, values: valuesOf(results) },
    { name: 'model', label: fields.model, ...some(models), typed: true },
    { name: 'requested', label: fields.requested, ...some(models), typed: true },
    { name: 'key', label: fields.key, ...some(keys), typed: !keys },
    { name: 'provider', label: fields.provider, ...some(providers), typed: true },
    { name: 'failed_provider', label: fields.failedProvider, ...some(providers), typed: true },
    { name: 'member', label: fields.member, ...some(members), typed: !members },
    { name: 'type', label: fields.type, values: plain([...new Set([...types, ...used])]) },
    { name: 'error', label: fields.error, typed: true, example: 'upstream_error' },
    { name: 'tag', label: fields.tag, typed: true, example: 'team:search' },
    { name: 'tier', label: fields.tier, values: plain(['SIMPLE', 'MEDIUM', 'COMPLEX']) },
    { name: 'guarded', label: fields.guarded, values: valuesOf(words.guarded) },
    { name: 'stream', label: fields.stream, values: valuesOf({ true: words.yes, false: words.no }) },
    { name: 'min_cost', label: fields.minCost, typed: true, single: true, example: '0.01' },
    { name: 'min_duration_ms', label: fields.minDuration, typed: true, single: true, example: '5000' },
    { name: 'protocol', label: fields.protocol, typed: true, example: 'messages' },
    { name: 'pipeline', label: fields.pipeline, typed: true, example: 'chat-completions' },
    { name: 'parent', label: fields.parent, typed: true },
    { name: 'trace_id', label: fields.trace, typed: true },
    { name: 'search', label: fields.search, typed: true },
  ].map((field) => ({ ...field, leavable: leavable.includes(field.name) }))
}

/** The filters whose values the routes of the log can leave out, too. */
const leavable = [
  'status',
  'result',
  'model',
  'requested',
  'key',
  'provider',
  'failed_provider',
  'member',
  'type',
  'error',
  'tag',
  'tier',
  'guarded',
  'protocol',
  'pipeline',
  'parent',
  'trace_id',
]

/** What an address may hold. */
const names = [...leavable, ...leavable.map(leaving), 'stream', 'min_cost', 'min_duration_ms', 'search']

export const isFiltered = (search: Search): boolean => names.some((name) => name in search)

/** The filters of an address as the routes of the log take them. */
export function filtersIn(search: Search): Query {
  const given = names.filter((name) => name in search).map((name) => [name, allOf(search, name)] as const)
  const filters: Query = Object.fromEntries(given)
  // One request by its id, the parts of one, all of a trace or of a pipeline are shown whatever their type is.
  if (['type', 'search', 'parent', 'trace_id', 'pipeline'].some((name) => name in filters)) return filters
  return { ...filters, not_type: [...allOf(search, 'not_type'), ...hidden] }
}
