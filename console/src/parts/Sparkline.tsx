import classes from './Sparkline.module.css'

interface SparklineProps {
  /** Ascending in time; null: a gap. */
  readonly values: readonly (number | null)[]
  /** A color of CSS, `--series-1`. */
  readonly color: string
}

const width = 160
const height = 26
/** Room for the line at the top. */
const rim = 2

/** How a figure went, as a line over its ground. The figure stands beside it in words, so it has none of its own. */
export function Sparkline({ values, color }: SparklineProps) {
  const top = Math.max(...values.map((value) => value ?? 0), Number.MIN_VALUE)
  const step = width / Math.max(1, values.length - 1)
  const points = values.map((value, at) =>
    value === null ? null : ([at * step, height - (value / top) * (height - rim)] as const),
  )
  return (
    <svg
      className={classes.line}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      style={{ color: `var(${color})` }}
    >
      {runs(points).map((run) => {
        const [first, last] = [run[0]?.[0] ?? 0, run.at(-1)?.[0] ?? 0]
        // A value between gaps is as wide as one step.
        const drawn =
          run.length > 1 ? run : run.flatMap(([x, y]) => [[x - step / 2, y] as const, [x + step / 2, y] as const])
        const line = drawn.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L')
        return (
          <g key={first}>
            {run.length > 1 && <path d={`M${line}L${last.toFixed(1)} ${height}L${first.toFixed(1)} ${height}Z`} />}
            <path d={`M${line}`} />
          </g>
        )
      })}
    </svg>
  )
}

type Point = readonly [x: number, y: number]

/** Points that stand together, between gaps. */
function runs(points: readonly (Point | null)[]): readonly (readonly Point[])[] {
  const all: Point[][] = [[]]
  for (const point of points) {
    if (point) all.at(-1)?.push(point)
    else all.push([])
  }
  return all.filter((run) => run.length > 0)
}
