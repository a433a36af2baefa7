import 'uplot/dist/uPlot.min.css'
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from 'react'
import uPlot from 'uplot'
import { axisTime } from '../format.ts'
import { linesTo } from './series.ts'
import type { Mark, Series } from './series.ts'
import { useZone } from './zone.ts'
import type { Zone } from './zone.ts'
import classes from './Chart.module.css'

export interface PlotProps {
  /** When each value begins, in seconds since 1970. */
  readonly times: readonly number[]
  readonly series: readonly Series[]
  readonly stacked: boolean
  readonly marks: readonly Mark[]
  /** A value as it stands at the axis, with its unit. */
  readonly tick: (value: number) => string
  /** Whether values are whole, and so the ticks. */
  readonly whole: boolean
  readonly height: number
  /** The time under the cursor, by its place in `times`. */
  readonly at: number | null
  readonly onCursor: (at: number | null) => void
  /** What was dragged over, in seconds since 1970. */
  readonly onDrag: (since: number, until: number) => void
  readonly onDoubleClick: () => void
}

type Events = Pick<PlotProps, 'onCursor' | 'onDrag' | 'onDoubleClick'>

/** The picture of a chart, in the colours that the page has when it is put in. */
export default function Plot({ at, onCursor, onDrag, onDoubleClick, ...what }: PlotProps) {
  const { times, series, stacked, marks, tick, whole, height } = what
  const zone = useZone()
  const place = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot>(undefined)
  const move = useEffectEvent(onCursor)
  const drag = useEffectEvent(onDrag)
  const back = useEffectEvent(onDoubleClick)
  useLayoutEffect(() => {
    const element = place.current
    if (!element) return
    const events: Events = { onCursor: move, onDrag: drag, onDoubleClick: back }
    const plot = draw(element, { times, series, stacked, marks, tick, whole, height }, zone, events)
    drawn.current = plot
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [times, series, stacked, marks, tick, whole, height, zone])
  useEffect(() => {
    const plot = drawn.current
    if (!plot || (plot.cursor.idx ?? null) === at) return
    const time = at === null ? undefined : times[at]
    const left = time === undefined ? -10 : plot.valToPos(time, 'x')
    plot.setCursor({ left, top: left < 0 ? -10 : 0 })
  }, [at, times])
  return <div ref={place} />
}

/** Charts of a page have their cursors in step. */
const page = uPlot.sync('page')

/** How long the last interval is: as long as the one before. */
const lengthOf = (times: readonly number[]): number => (times.at(-1) ?? 0) - (times.at(-2) ?? 0) || 60

type What = Pick<PlotProps, 'times' | 'series' | 'stacked' | 'marks' | 'tick' | 'whole' | 'height'>

function draw(element: HTMLElement, what: What, zone: Zone, events: Events): uPlot {
  const { times, stacked, marks, tick, whole, height } = what
  const colorOf = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name)
  const drawn = stacked ? piled(what.series) : what.series
  const highest = Math.max(0, ...drawn.flatMap(({ values }) => values.map((value) => value ?? 0)))
  // Five lines at most, and none closer to the next one than its words are high.
  const lines = linesTo(highest, Math.min(4, Math.floor(height / 40)), whole)
  const asBars = stacked || times.length < 2
  const bars = uPlot.paths.bars?.({ size: [1, 40], gap: 1, align: 1 })
  const font = '11px Inter, system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
  const axis = { stroke: colorOf('--faint'), font, ticks: { show: false } }
  // A value stands for what follows its time, so the picture ends where the last interval does.
  const from = times[0] ?? Date.now() / 1000 - 60
  const until = (times.at(-1) ?? from) + lengthOf(times)
  return new uPlot(
    {
      width: element.clientWidth,
      height,
      // Half of the last label stands beyond the picture.
      padding: [8, 20, 0, 0],
      legend: { show: false },
      ...(zone === 'utc' && { tzDate: (time: number) => uPlot.tzDate(new Date(time * 1000), 'Etc/UTC') }),
      cursor: {
        drag: { x: true, y: false, setScale: false },
        points: { show: false },
        y: false,
        sync: { key: page.key, scales: ['x', null] },
        bind: { dblclick: () => () => (events.onDoubleClick(), null) },
      },
      scales: { x: { range: [from, until] }, y: { range: [0, lines.at(-1) ?? 1] } },
      axes: [
        {
          ...axis,
          size: 24,
          gap: 6,
          space: 64,
          grid: { show: false },
          values: (_plot, splits, _axis, _space, step) =>
            splits.map((time) => axisTime(time * 1000, step * 1000, zone)),
        },
        {
          ...axis,
          size: 50,
          gap: 8,
          grid: { stroke: colorOf('--line'), width: 1 },
          splits: () => [...lines],
          values: (_plot, splits) => splits.map(tick),
        },
      ],
      series: [
        {},
        ...drawn.map(({ color, dashed }) => ({
          stroke: colorOf(color),
          width: asBars ? 0 : 2,
          // A line between two values is seen, and a value between two gaps only as a point.
          points: asBars ? { show: false } : { show: true, size: 5, fill: colorOf(color), filter: lonely },
          ...(dashed && { dash: [5, 4] }),
          ...(asBars && bars && { fill: colorOf(color), paths: bars }),
        })),
      ],
      hooks: {
        ready: [(plot) => putMarks(plot, marks, [from, until])],
        setCursor: [({ cursor: { idx, left = -1 } }) => events.onCursor(left < 0 ? null : (idx ?? null))],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select
            if (width < 4) return
            events.onDrag(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'))
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          },
        ],
      },
    },
    [[...times], ...drawn.map(({ values }) => [...values])] as uPlot.AlignedData,
    element,
  )
}

/** The values of a series that have a gap on both sides. */
function lonely({ data }: uPlot, series: number): number[] {
  const values = data[series] ?? []
  return [...values.keys()].filter((at) => values[at] != null && values[at - 1] == null && values[at + 1] == null)
}

/** Series on top of each other. The highest is drawn first, so that each lower one covers its part. */
function piled(series: readonly Series[]): readonly Series[] {
  const sums: (number | null)[] = []
  return series
    .map((one) => {
      one.values.forEach((value, at) => (sums[at] = value === null ? (sums[at] ?? null) : (sums[at] ?? 0) + value))
      return { ...one, values: [...sums] }
    })
    .toReversed()
}

/** Thin lines over the picture, each with its words for a pointer that rests on it. */
function putMarks(plot: uPlot, marks: readonly Mark[], [from, until]: readonly [number, number]): void {
  for (const { at, words } of marks) {
    const part = (Date.parse(at) / 1000 - from) / (until - from)
    if (part < 0 || part > 1) continue
    const line = document.createElement('div')
    line.className = classes.mark ?? ''
    line.dataset['words'] = words
    line.dataset['side'] = part > 0.5 ? 'left' : 'right'
    line.style.left = `${part * 100}%`
    plot.over.append(line)
  }
}
