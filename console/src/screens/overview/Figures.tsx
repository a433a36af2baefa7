import { useQuery } from '@tanstack/react-query'
import { change, count, duration, money, points, share } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { useLive } from '../../parts/useLive.ts'
import { useRange } from '../../parts/useRange.ts'
import type { Range } from '../../parts/useRange.ts'
import { knownCost, stats, timeline, usage } from './api.ts'
import type { Stats, Usage } from './api.ts'
import type { Point } from './timeline.ts'
import { Figure } from './Figure.tsx'
import type { FigureProps } from './Figure.tsx'
import { words } from './words.ts'
import classes from './overview.module.css'

/** The figures of the range, each compared with the span of the same length before. */
export function Figures() {
  const range = useRange()
  const refetchInterval = useLive().interval
  const now = useQuery({ ...stats(range, 'now'), refetchInterval })
  // It moves little.
  const before = useQuery({ ...stats(range, 'before'), refetchInterval: refetchInterval && 60_000 }).data
  const series = useQuery({ ...timeline(range), refetchInterval }).data
  const byProvider = useQuery({ ...usage(range, 'provider'), refetchInterval }).data
  if (now.error && !now.data)
    return (
      <Card label={words.figures}>
        <Failure error={now.error} onRetry={() => void now.refetch()} />
      </Card>
    )
  return (
    <section className={classes.figures} aria-label={words.figures} data-busy={now.isPlaceholderData || undefined}>
      {now.data
        ? figuresOf({ now: now.data, before, points: series?.points ?? [], byProvider }, range).map((figure) => (
            <Figure key={figure.label} {...figure} />
          ))
        : Array.from({ length: 6 }, (_, at) => <Skeleton key={at} height={122} />)}
    </section>
  )
}

interface Known {
  readonly now: Stats
  readonly before: Stats | undefined
  readonly points: readonly (Point | undefined)[]
  readonly byProvider: Usage | undefined
}

/** Counts per bucket; a bucket without data counts 0. */
const countsOf = (points: Known['points'], of: (point: Point) => number) =>
  points.map((point) => (point ? of(point) : 0))

/** Measurements per bucket; a bucket without data is a gap. */
const measuresOf = (points: Known['points'], of: (point: Point) => number | null) =>
  points.map((point) => (point ? of(point) : null))

function figuresOf(known: Known, range: Range): readonly FigureProps[] {
  const { now, before, points: all } = known
  const { search } = range
  const timed = (name: 'first_byte_ms' | 'duration_ms') => ({
    value: duration(now[name].p95),
    note: words.median(duration(now[name].p50)),
    change: change(now[name].p95, before?.[name].p95),
    values: measuresOf(all, (point) => point[name].p95),
    color: '--series-1',
    search,
  })
  return [
    {
      label: words.requests,
      value: count(now.requests),
      exact: String(now.requests),
      note: rateOf(now.requests, range.length),
      change: change(now.requests, before?.requests),
      values: countsOf(all, (point) => point.completed + point.client_closed + point.refused + point.failed),
      color: '--series-1',
      search,
    },
    { ...failedOf(known), search: { ...search, result: 'failed' } },
    { label: words.firstByte, ...timed('first_byte_ms') },
    { label: words.duration, ...timed('duration_ms') },
    {
      label: words.tokens,
      value: count(now.usage.total),
      exact: String(now.usage.total),
      note: now.usage.total === 0 ? undefined : words.fromCache(share(now.usage.cache_read / now.usage.total)),
      change: change(now.usage.total, before?.usage.total),
      values: countsOf(all, (point) => point.tokens.total),
      color: '--series-3',
      search,
    },
    { ...costOf(known), search },
  ]
}

const spans = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const

/** How often there was a request in so many milliseconds, per the shortest span in which there was one. */
function rateOf(requests: number, length: number): string {
  const names = Object.keys(spans) as (keyof typeof spans)[]
  const per = (name: keyof typeof spans) => (requests / length) * spans[name]
  const name = names.find((one) => per(one) >= 1) ?? 'day'
  return words.rates[name](String(Number(per(name).toPrecision(2))))
}

function failedOf({ now, before, points: all, byProvider }: Known): Omit<FigureProps, 'search'> {
  const part = now.requests === 0 ? null : now.failed / now.requests
  const partBefore = before && before.requests > 0 ? before.failed / before.requests : null
  const compared = part !== null && partBefore !== null
  return {
    label: words.failed,
    value: share(part),
    note: worstOf(byProvider) ?? words.failedOf(count(now.failed), count(now.requests)),
    change: compared ? points(part, partBefore) : undefined,
    worse: compared && part > partBefore,
    values: countsOf(all, (point) => point.failed),
    color: '--bad',
  }
}

/** Where most of what failed did. */
function worstOf(byProvider: Usage | undefined): string | undefined {
  const worst = byProvider?.data.toSorted((one, other) => other.failed - one.failed)[0]
  if (!byProvider || !worst?.group.provider || worst.failed === 0) return undefined
  return words.failedAt(count(worst.failed), count(byProvider.total.failed), worst.group.provider)
}

function costOf({ now, before, points: all }: Known): Omit<FigureProps, 'search'> {
  const { savings, unknown_cost_requests: unpriced } = now
  const cost = knownCost(now)
  const notes = [unpriced > 0 ? words.unpriced(count(unpriced)) : '', savings ? words.saved(money(savings)) : '']
  return {
    label: words.cost,
    value: money(cost),
    exact: cost === null ? undefined : String(cost),
    note: notes.filter((text) => text !== '').join(', '),
    change: change(cost, before?.cost),
    values: countsOf(all, ({ cost: spent }) => spent),
    color: '--series-5',
  }
}
