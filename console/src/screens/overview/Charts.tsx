import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Card } from '../../parts/Card.tsx'
import { Chart } from '../../parts/Chart.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { useLive } from '../../parts/useLive.ts'
import { useRange } from '../../parts/useRange.ts'
import { timeline } from './api.ts'
import type { Timeline } from './timeline.ts'
import { useMarks } from './useMarks.ts'
import { words } from './words.ts'
import classes from './overview.module.css'

const outcomes = [
  { name: 'completed', color: '--series-1' },
  { name: 'client_closed', color: '--series-6' },
  { name: 'refused', color: '--series-4' },
  { name: 'failed', color: '--bad' },
] as const

const percentiles = [
  { name: 'p50', color: '--series-1', dashed: false },
  { name: 'p95', color: '--series-2', dashed: false },
  { name: 'p99', color: '--series-4', dashed: true },
] as const

const height = 208
/** With the names of the series in the head. */
const loadingHeight = height + 26

/** How requests ended, and how long they waited for their first byte, over the range. */
export function Charts() {
  const range = useRange()
  const { interval } = useLive()
  const { data, error, refetch, isPlaceholderData } = useQuery({ ...timeline(range), refetchInterval: interval })
  if (data) return <Drawn timeline={data} busy={isPlaceholderData} />
  return (
    <div className={classes.charts}>
      {[words.byOutcome, words.toFirstByte].map((title) => (
        <Card key={title} title={title}>
          {error ? <Failure error={error} onRetry={() => void refetch()} /> : <Skeleton height={loadingHeight} />}
        </Card>
      ))}
    </div>
  )
}

function Drawn({ timeline, busy }: { readonly timeline: Timeline; readonly busy: boolean }) {
  const { interval, times, points } = timeline
  const marks = useMarks(timeline)
  const counts = useMemo(
    () =>
      outcomes.map(({ name, color }) => ({
        name: words.results[name],
        color,
        values: points.map((point) => point?.[name] ?? 0),
      })),
    [points],
  )
  const latencies = useMemo(
    () =>
      percentiles.map(({ name, ...drawn }) => ({
        name,
        ...drawn,
        values: points.map((point) => point?.first_byte_ms[name] ?? null),
      })),
    [points],
  )
  const common = { times, marks, height, busy, sayEmpty: true }
  return (
    <div className={classes.charts}>
      <Chart title={words.byOutcome} note={words.per[interval]} series={counts} unit="count" stacked {...common} />
      <Chart title={words.toFirstByte} note={words.streamedAndWhole} series={latencies} unit="duration" {...common} />
    </div>
  )
}
