import { duration } from '../format.ts'
import type { Box } from './measure.ts'
import type { Runs } from './runs.ts'
import { lanes } from './threads.ts'
import { words } from './words.ts'
import classes from './Picture.module.css'

/** The longest bar in pixels. */
const longest = 50

/** The heads of the columns, and the time of each step: a bar on a square-root scale and its figures. */
export function Times({ boxes, runs, x }: { readonly boxes: readonly Box[]; readonly runs: Runs; readonly x: number }) {
  const rows = boxes.flatMap((box) => {
    const time = (box.kind === 'stage' || box.kind === 'folded') && box.row ? runs.timeOf(box.step) : undefined
    return time ? [{ ...time, y: box.y, path: box.step.path }] : []
  })
  const top = Math.sqrt(Math.max(1, ...rows.map(({ p50, p95 = p50 }) => p95)))
  const length = (ms: number) => Math.max(2, (Math.sqrt(ms) / top) * longest)
  const stages = boxes.find(({ kind }) => kind === 'stage')?.x ?? 200
  return (
    <g aria-hidden="true">
      <text className={classes.faint} x={lanes.names} y={14} textAnchor="end">
        {words.slots}
      </text>
      <text className={classes.faint} x={stages} y={14}>
        {words.stages}
      </text>
      <text className={classes.faint} x={x} y={14}>
        {words.time}
      </text>
      <text className={classes.faint} x={x + 100} y={14} textAnchor="end">
        {runs.one ? words.one : words.median}
      </text>
      {!runs.one && (
        <text className={classes.faint} x={x + 142} y={14} textAnchor="end">
          {words.most}
        </text>
      )}
      {rows.map(({ path, y, p50, p95, failed }) => (
        <g key={path}>
          {p95 !== undefined && (
            <rect className={classes.heat1} x={x} y={y + 9} width={length(p95)} height={8} rx={2} />
          )}
          <rect
            className={failed ? classes.bad : classes.heat4}
            x={x}
            y={y + 9}
            width={length(p50)}
            height={8}
            rx={2}
          />
          <text className={failed ? classes.failed : classes.words} x={x + 100} y={y + 17} textAnchor="end">
            {duration(p50)}
          </text>
          {p95 !== undefined && (
            <text className={classes.faint} x={x + 142} y={y + 17} textAnchor="end">
              {duration(p95).replace(p95 < 1000 ? ' ms' : '', '')}
            </text>
          )}
        </g>
      ))}
    </g>
  )
}
