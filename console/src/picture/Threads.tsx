import { lanes } from './threads.ts'
import type { Thread } from './threads.ts'
import classes from './Picture.module.css'

interface ThreadsProps {
  readonly threads: readonly Thread[]
  /** Slots whose threads stand out. */
  readonly lit: ReadonlySet<string>
  /** Whether the others step back. */
  readonly fade: boolean
  /** A slot's name under the pointer. */
  readonly onPoint: (slot: string | undefined) => void
}

/** The slots of a pipeline, from where each is given to where it is last needed. */
export function Threads({ threads, lit, fade, onPoint }: ThreadsProps) {
  return threads.map((thread) => {
    const { slot, lane, x, from, to, read, dotted, label, marks } = thread
    const look = lit.has(slot) ? classes.lit : fade ? classes.faded : ''
    return (
      <g key={`${slot} ${lane}`} className={`${classes.thread} ${look}`}>
        <path className={dotted ? classes.dotted : undefined} d={`M${x} ${from}V${to}`} />
        {read > to && <path className={classes.dotted} d={`M${x} ${to}V${read}`} />}
        <path
          className={classes.lead}
          d={`M${lanes.names + 4} ${label}H${x - 6 > lanes.names ? lanes.names + 8 : x}L${x} ${from}`}
        />
        {marks.map(({ path, does, y, to: end }) => (
          <g key={`${path} ${does}`}>
            <path className={does === 'gives' ? undefined : classes.dotted} d={`M${x} ${y}H${end}`} />
            <circle
              className={classes[does === 'gives' ? 'given' : 'taken']}
              cx={x}
              cy={y}
              r={does === 'gives' ? 3.2 : 2.6}
            />
          </g>
        ))}
        <text
          x={lanes.names}
          y={label + 4}
          textAnchor="end"
          onPointerEnter={() => onPoint(slot)}
          onPointerLeave={() => onPoint(undefined)}
        >
          {slot.length > 13 ? `${slot.slice(0, 12)}…` : slot}
          <title>{slot}</title>
        </text>
      </g>
    )
  })
}
