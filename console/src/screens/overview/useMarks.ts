import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Answers, Row } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import { breakers, circuitOf } from '../../api/attention.ts'
import type { Breaker } from '../../api/attention.ts'
import { count } from '../../format.ts'
import type { Mark } from '../../parts/series.ts'
import { useLive } from '../../parts/useLive.ts'
import { useRange } from '../../parts/useRange.ts'
import type { Range } from '../../parts/useRange.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { timelineOf } from './timeline.ts'
import type { Series, Timeline } from './timeline.ts'
import { words } from './words.ts'

/** What is read of a row of the audit trail. */
type Change = Row<'list-audit'>

/** The latest changes in the range that may explain a turn of the charts. Admins only. */
const changes = (range: Range) =>
  queryOptions({
    queryKey: ['audit', 'marks', range.key],
    queryFn: async ({ signal }) => {
      const query = { ...range.bounds(), action: ['config.reload', 'breaker.reset'], outcome: 'ok', limit: 50 }
      return (await ask<Answers['list-audit']>('GET', '/api/logs/audit', { query, signal })).data
    },
  })

/**
 * The requests that budgets refused. The gateway has to read rows for them, so they are asked for between the first and
 * the last refusal alone, and again only when there are others.
 */
function refusedByBudgets({ interval, times, points }: Timeline) {
  const refusing = points.flatMap((point, at) => (point?.refused ? [at] : []))
  const [since, until] = [times[refusing[0] ?? 0], times[(refusing.at(-1) ?? 0) + 1]]
  const refused = points.reduce((sum, point) => sum + (point?.refused ?? 0), 0)
  return queryOptions({
    queryKey: ['logs', 'series', 'budgets', interval, since, refused],
    queryFn: ({ signal }) =>
      ask<Series>('GET', '/api/logs/series', { query: { since, until, interval, error: 'budget_exceeded' }, signal }),
    select: timelineOf,
    enabled: refused > 0,
    staleTime: Infinity,
  })
}

/** Reloads, what became of circuits, and where budgets stopped requests: the marks of the charts of a time line. */
export function useMarks(timeline: Timeline): readonly Mark[] {
  const range = useRange()
  const isAdmin = useIsAdmin()
  const refetchInterval = useLive().live ? 60_000 : false
  const { data: made } = useQuery({ ...changes(range), enabled: isAdmin, refetchInterval })
  const { data: circuits } = useQuery({ ...breakers, enabled: isAdmin })
  const { data: stopped } = useQuery(refusedByBudgets(timeline))
  return useMemo(
    () => [...(made ?? []).flatMap(changed), ...(circuits ?? []).flatMap(opened), ...(stopped ? stops(stopped) : [])],
    [made, circuits, stopped],
  )
}

/** A damaged row may not say when it was written. */
function changed({ at, action, target, details }: Change): readonly Mark[] {
  if (at === undefined) return []
  if (action === 'config.reload') return [{ at, words: words.marks.reload }]
  if (!target) return [{ at, words: words.marks.resetAll }]
  const model = typeof details?.['model'] === 'string' ? details['model'] : null
  return [{ at, words: words.marks.reset(circuitOf({ provider: target.name ?? '', model })) }]
}

function opened(breaker: Breaker): readonly Mark[] {
  const { opened_at: at } = breaker
  return at === null ? [] : [{ at, words: words.marks.opened(circuitOf(breaker)) }]
}

/** Each interval in which budgets began to refuse. */
function stops({ times, points }: Timeline): readonly Mark[] {
  return points.flatMap((point, at) => {
    const refused = point?.refused ?? 0
    const begins = refused > 0 && !points[at - 1]?.refused
    return begins ? [{ at: times[at] ?? '', words: words.marks.budget(count(refused)) }] : []
  })
}
