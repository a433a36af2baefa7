import { useComputedColorScheme } from '@mantine/core'
import { lazy, Suspense, useId, useMemo, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode } from 'react'
import { minute } from '../format.ts'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { Card } from './Card.tsx'
import { whenAnswered } from './load.ts'
import { oneOf, useAddress } from './search.ts'
import { findingOf, units } from './series.ts'
import type { Mark, Series, Unit } from './series.ts'
import { usualRange, useRange } from './useRange.ts'
import type { RangeName } from './useRange.ts'
import { ValueTable } from './ValueTable.tsx'
import { useZone } from './zone.ts'
import classes from './Chart.module.css'

const Plot = lazy(() => whenAnswered(() => import('./Plot.tsx')))

export interface ChartProps {
  readonly title: string
  /** Beside the title, where no time is pointed at: `per 5 min`. */
  readonly note?: ReactNode
  /** When each value begins, RFC 3339, ascending. Keep it and `series` the same while the data are. */
  readonly times: readonly string[]
  /** Six at most. */
  readonly series: readonly Series[]
  /** What values are: counts, milliseconds, or USD. */
  readonly unit: Unit
  /** Series are parts of a whole, and stand on each other as bars; else they are lines. */
  readonly stacked?: boolean
  readonly marks?: readonly Mark[]
  readonly height: number
  /** Older data are shown while new ones come. */
  readonly busy?: boolean
  /** Says that there is nothing, and how to see more. Not where the page says so already. */
  readonly sayEmpty?: boolean
}

const noMarks: readonly Mark[] = []

/**
 * Values over time, as a picture or as a table: the address has which (`charts=table`). A drag sets the range of the
 * page and a double click takes it back, arrow keys move through the values, and the names in the head leave only
 * their own.
 */
export function Chart(props: ChartProps) {
  const { title, note, times, series, unit, stacked = false, marks = noMarks, busy = false } = props
  const [search, change] = useAddress()
  const zone = useZone()
  const [alone, setAlone] = useState<string | null>(null)
  const [at, setAt] = useState<number | null>(null)
  const [isFocused, setFocused] = useState(false)
  const label = useId()
  const asTable = oneOf(search, 'charts') === 'table'
  const shown = useMemo(() => series.filter(({ name }) => alone === null || name === alone), [series, alone])
  const time = at === null ? undefined : times[at]
  const valueOf = (one: Series) => (at === null ? '' : units[unit].print(one.values[at] ?? null))
  return (
    <Card className={classes.chart} label={title}>
      <div className={classes.head}>
        <h2>{title}</h2>
        <span className={classes.note}>{time === undefined ? note : minute(time, zone)}</span>
        <div className={classes.legend} role="group" aria-label={shared.legend}>
          {series.map((one) => (
            <button
              key={one.name}
              type="button"
              aria-pressed={alone === one.name}
              onClick={() => setAlone(alone === one.name ? null : one.name)}
            >
              <span className={classes.key} style={{ background: `var(${one.color})` }} />
              {one.name} <span className={classes.value}>{valueOf(one)}</span>
            </button>
          ))}
        </div>
        <Button
          small
          className={classes.asTable}
          aria-pressed={asTable}
          onClick={() => change({ charts: asTable ? undefined : 'table' })}
        >
          {shared.table}
        </Button>
      </div>
      {asTable ? (
        <ValueTable title={title} times={times} series={series} print={units[unit].print} marks={marks} />
      ) : (
        <>
          <Picture
            {...props}
            series={shown}
            stacked={stacked}
            marks={marks}
            at={at}
            onCursor={setAt}
            onFocus={setFocused}
            busy={busy}
          />
          <span className="visually-hidden" role="status" id={label}>
            {isFocused &&
              time !== undefined &&
              [minute(time, zone), ...shown.map((one) => `${one.name} ${valueOf(one)}`)].join(', ')}
          </span>
        </>
      )}
    </Card>
  )
}

interface PictureProps extends ChartProps {
  readonly stacked: boolean
  readonly marks: readonly Mark[]
  readonly at: number | null
  readonly onCursor: (at: number | null) => void
  /** Only the values of a chart that has the focus are read out: the others move in step. */
  readonly onFocus: (isFocused: boolean) => void
}

function Picture(props: PictureProps) {
  const { title, times, series, unit, stacked, marks, height, busy, sayEmpty = false, at, onCursor, onFocus } = props
  const range = useRange()
  const zone = useZone()
  const scheme = useComputedColorScheme()
  const before = useRef<RangeName>(usualRange)
  const seconds = useMemo(() => times.map((time) => Date.parse(time) / 1000), [times])
  const finding = useMemo(() => findingOf({ times, series, unit, stacked, zone }), [times, series, unit, stacked, zone])
  const drag = (since: number, until: number) => {
    before.current = range.name ?? before.current
    range.between(new Date(since * 1000), new Date(until * 1000))
  }
  const press = (event: KeyboardEvent) => {
    const last = times.length - 1
    const to = { ArrowLeft: (at ?? last + 1) - 1, ArrowRight: (at ?? -1) + 1, Home: 0, End: last }[event.key]
    if (to === undefined && event.key !== 'Escape') return
    event.preventDefault()
    onCursor(to === undefined || last < 0 ? null : Math.min(last, Math.max(0, to)))
  }
  const isEmpty = sayEmpty && finding === shared.nothingInRange
  return (
    <div className={classes.place} data-busy={busy || undefined} style={{ minHeight: height }}>
      <div
        className={classes.plot}
        role="img"
        aria-label={`${title}, ${shared.spans[range.name ?? 'custom']}, ${finding}`}
        tabIndex={0}
        onKeyDown={press}
        onFocus={() => onFocus(true)}
        onBlur={() => {
          onFocus(false)
          onCursor(null)
        }}
      >
        <Suspense fallback={<div style={{ height }} />}>
          <Plot
            key={scheme}
            {...{ times: seconds, series, stacked, marks, height, at, onCursor }}
            tick={units[unit].tick}
            whole={unit === 'count'}
            onDrag={drag}
            onDoubleClick={() => range.name ?? range.choose(before.current)}
          />
        </Suspense>
      </div>
      {isEmpty && (
        <div className={classes.empty}>
          <span>{shared.nothingInRange}</span>
          {range.name !== '7d' && range.name !== '30d' && (
            <Button small onClick={() => range.choose('7d')}>
              {shared.widen}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}
