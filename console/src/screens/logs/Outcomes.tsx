import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Query } from '../../api/ask.ts'
import { Chart } from '../../parts/Chart.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { intervalsOf } from '../../parts/intervals.ts'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { useLive } from '../../parts/useLive.ts'
import { useRange } from '../../parts/useRange.ts'
import { outcomes } from './api.ts'
import { words } from './words.ts'

const drawn = [
  { name: 'completed', color: '--series-1' },
  { name: 'client_closed', color: '--series-6' },
  { name: 'refused', color: '--series-4' },
  { name: 'failed', color: '--bad' },
] as const

/** How many requests of the list there were, by time and outcome. */
export function Outcomes({ filters }: { readonly filters: Query }) {
  const range = useRange()
  const { interval } = useLive()
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...outcomes(filters, range),
    refetchInterval: interval,
  })
  const [times, series] = useMemo(() => {
    const starts = data ? intervalsOf(data) : []
    const points = new Map(data?.data.map((point) => [Date.parse(point.at), point]))
    const valuesOf = (name: (typeof drawn)[number]['name']) =>
      starts.map((at) => points.get(Date.parse(at))?.[name] ?? 0)
    return [starts, drawn.map(({ name, color }) => ({ name: words.results[name], color, values: valuesOf(name) }))]
  }, [data])
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={162} />
  return (
    <Chart
      title={words.chart}
      note={words.per[data.interval]}
      times={times}
      series={series}
      unit="count"
      stacked
      height={112}
      busy={isPlaceholderData}
    />
  )
}
