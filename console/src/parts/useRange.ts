import { useEffect, useMemo } from 'react'
import { shared } from '../words.ts'
import { oneOf, useAddress } from './search.ts'
import type { Search } from './search.ts'
import { toast } from './toast.tsx'

/** The spans of the picker, in milliseconds. */
export const ranges = {
  '15m': 900_000,
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const

export type RangeName = keyof typeof ranges

export const usualRange: RangeName = '24h'

/** Two moments, RFC 3339, as every route of logs takes them; without `until`, the span ends now. */
export interface Bounds {
  readonly since: string
  readonly until?: string
}

export interface Range {
  /** The span that moves with time; null while two moments are set. */
  readonly name: RangeName | null
  /** The same for the same choice: part of a query's key. */
  readonly key: string
  /** The range as an address has it, for links to other screens. */
  readonly search: Search
  /** Length in milliseconds. */
  readonly length: number
  /** The bounds of this moment, to be asked for with each request. */
  readonly bounds: () => Bounds
  /** The span of the same length before, for comparisons. */
  readonly before: () => Required<Bounds>
  readonly choose: (name: RangeName) => void
  /** Sets two moments; a chart's drag does. */
  readonly between: (since: Date, until: Date) => void
}

/** Which of two moments makes no span. An end needs a beginning. */
function wrongOf(since: string | undefined, until: string | undefined): 'since' | 'until' | undefined {
  if (until !== undefined && (since === undefined || Number.isNaN(Date.parse(until)))) return 'until'
  return since === undefined ? undefined : 'since'
}

const isName = (text: string): text is RangeName => Object.hasOwn(ranges, text)

/** The time range of the page, from its address: `range`, or `since` and `until`. */
export function useRange(): Range {
  const [search, change] = useAddress()
  const [named, since, until] = ['range', 'since', 'until'].map((name) => oneOf(search, name))
  const from = Date.parse(since ?? '')
  const to = Date.parse(until ?? '')
  const custom = from < (until === undefined ? Date.now() : to)
  const wrong = named !== undefined && !isName(named) ? 'range' : custom ? undefined : wrongOf(since, until)
  useEffect(() => {
    if (wrong === undefined) return
    toast(shared.wrongInAddress(wrong))
    change(wrong === 'range' ? { range: undefined } : { since: undefined, until: undefined })
  }, [wrong, change])
  return useMemo(() => {
    const name = custom ? null : named !== undefined && isName(named) ? named : usualRange
    const length = name ? ranges[name] : (Number.isNaN(to) ? Date.now() : to) - from
    const end = () => (name || Number.isNaN(to) ? Date.now() : to)
    const start = () => (name ? end() - length : from)
    const text = (moment: number) => new Date(moment).toISOString()
    const bounds = () => ({ since: text(start()), ...(name || Number.isNaN(to) ? {} : { until: text(to) }) })
    return {
      name,
      key: name ?? `${since}/${until ?? ''}`,
      search: name ? { ...(name !== usualRange && { range: name }) } : bounds(),
      length,
      bounds,
      before: () => ({ since: text(start() - length), until: text(start()) }),
      choose: (next) =>
        change({ range: next === usualRange ? undefined : next, since: undefined, until: undefined }, { push: true }),
      between: (one, other) =>
        change({ range: undefined, since: one.toISOString(), until: other.toISOString() }, { push: true }),
    }
  }, [custom, named, since, until, from, to, change])
}
