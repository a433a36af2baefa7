import { duration, durationTick } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import type { Detail } from './row.ts'
import { words } from './request-words.ts'
import { barsOf, stepsOf } from './timeline.ts'
import type { Bar } from './timeline.ts'
import classes from './Timeline.module.css'

const rowHeight = 25
const headHeight = 20
const mostBars = 60
const legend = [
  { kind: 'works', label: words.works },
  { kind: 'streams', label: words.streaming },
  { kind: 'failed', label: words.failedTry },
  { kind: 'firstByte', label: words.firstByteLine },
] as const

/** When each stage ran, each try, each pause and the stream, as bars over time. */
export function Timeline({ request }: { readonly request: Detail }) {
  const bars = barsOf(request)
  const shown = bars.slice(0, mostBars)
  const end = Math.max(request.duration_ms, ...bars.map(({ from, length }) => from + length), 0.01)
  const { first_byte_ms: firstByte } = request
  const partOf = (milliseconds: number) => `${(milliseconds / end) * 100}%`
  return (
    <Card
      title={words.timeline}
      actions={
        <div className={classes.legend}>
          {legend.map(({ kind, label }) => (
            <span key={kind} data-kind={kind}>
              {label}
            </span>
          ))}
        </div>
      }
    >
      <div className={classes.timeline}>
        <ul className={classes.labels}>
          {shown.map((bar, at) => (
            <li key={at} data-inner={bar.inner} title={bar.label}>
              {bar.label}
            </li>
          ))}
        </ul>
        <svg
          className={classes.picture}
          role="img"
          aria-label={words.timelineOf(duration(request.duration_ms), shown.length)}
          style={{ height: headHeight + shown.length * rowHeight + 4 }}
        >
          {stepsOf(end).map((step) => (
            <g key={step} className={classes.step}>
              <line x1={partOf(step)} x2={partOf(step)} y1={headHeight - 2} y2="100%" />
              <text x={partOf(step)} y={12} data-edge={step === 0 ? 'first' : step > 0.95 * end ? 'last' : undefined}>
                {durationTick(Number(step.toPrecision(3)))}
              </text>
            </g>
          ))}
          {shown.map((bar, at) => (
            <BarOf key={at} bar={bar} end={end} top={headHeight + at * rowHeight} />
          ))}
          {firstByte !== null && firstByte <= end && (
            <line
              className={classes.firstByte}
              x1={partOf(firstByte)}
              x2={partOf(firstByte)}
              y1={headHeight - 2}
              y2="100%"
            />
          )}
        </svg>
        <ul className={classes.figures}>
          {shown.map((bar, at) => (
            <li key={at} data-kind={bar.kind}>
              {textOf(bar)}
            </li>
          ))}
        </ul>
      </div>
      {bars.length > mostBars && <p className={classes.more}>{words.moreBars(bars.length - mostBars)}</p>}
    </Card>
  )
}

const textOf = ({ length, note }: Bar) => (note === undefined ? duration(length) : words.took(duration(length), note))

function BarOf({ bar, end, top }: { readonly bar: Bar; readonly end: number; readonly top: number }) {
  const { from, length, kind } = bar
  return (
    <g className={classes.bar} data-kind={kind} data-heat={heatOf(length)}>
      <title>{words.barTitle(bar.label, duration(from), textOf(bar))}</title>
      <rect className={classes.ground} x={0} y={top} width="100%" height={rowHeight} />
      <rect
        className={classes.mark}
        x={`${(from / end) * 100}%`}
        y={top + 6}
        height={14}
        rx={3}
        style={{ width: `max(3px, ${(length / end) * 100}%)` }}
      />
    </g>
  )
}

/** One to five, as in the pictures of pipelines. */
const heatOf = (milliseconds: number) => 1 + [0.1, 0.3, 3, 100].filter((border) => milliseconds >= border).length
