import { Card } from '../../parts/Card.tsx'
import { count } from '../../format.ts'
import { borders, tiers } from '../../parts/decision.ts'
import { modes } from './api.ts'
import type { DecisionRow } from './api.ts'
import classes from './routing.module.css'
import { words } from './words.ts'

/** Bars of a tier: its borders are those of bars, too. */
const barsOfTier = 11
const edges = [0, ...borders, 1]
const height = 44
const percent = (value: number) => `${value * 100}%`

/** How many requests of each mode were how hard, with the borders of the tiers. */
export function Distribution({ rows }: { readonly rows: readonly DecisionRow[] }) {
  return (
    <Card title={words.distribution} note={words.latest(count(rows.length))}>
      <div className={classes.modes}>
        {modes.map((mode) => {
          const own = rows.filter((row) => row.mode === mode)
          return own.length > 0 && <OfMode key={mode} mode={mode} rows={own} />
        })}
        <span />
        <div className={classes.axis} aria-hidden="true">
          {tiers.map((tier) => (
            <span key={tier}>{tier}</span>
          ))}
        </div>
        <span />
      </div>
    </Card>
  )
}

function OfMode({ mode, rows }: { readonly mode: string; readonly rows: readonly DecisionRow[] }) {
  const bars = barsOf(rows.flatMap(({ complexity }) => complexity ?? []))
  const highest = Math.max(...bars.map((bar) => bar.count))
  const [simple = 0, medium = 0, complex = 0] = tiers.map((tier) => rows.filter((row) => row.tier === tier).length)
  return (
    <>
      <span>{mode}</span>
      <svg
        className={classes.bars}
        height={height}
        role="img"
        aria-label={words.distributionOf(mode, rows.length, simple, medium, complex)}
      >
        <line x1="0" x2="100%" y1={height - 0.5} y2={height - 0.5} className={classes.ground} />
        {bars.map(({ from, to, tier, count: requests }) => {
          const tall = (requests / highest) * (height - 4)
          return (
            <rect
              key={from}
              x={percent(from)}
              width={percent(to - from)}
              y={height - tall}
              height={tall}
              className={classes[tier]}
            />
          )
        })}
        {borders.map((border) => (
          <line key={border} x1={percent(border)} x2={percent(border)} y1={0} y2={height} className={classes.border} />
        ))}
      </svg>
      <span className={classes.faint}>{words.requestsOf(count(rows.length))}</span>
    </>
  )
}

function barsOf(complexities: readonly number[]) {
  return tiers.flatMap((tier, index) => {
    const [start = 0, end = 1] = [edges[index], edges[index + 1]]
    const width = (end - start) / barsOfTier
    const isLast = index === tiers.length - 1
    const within = complexities.filter((one) => one >= start && (one < end || isLast))
    const places = within.map((one) => Math.min(barsOfTier - 1, Math.floor((one - start) / width)))
    return Array.from({ length: barsOfTier }, (_, place) => ({
      tier,
      from: start + place * width,
      to: start + (place + 1) * width,
      count: places.filter((one) => one === place).length,
    }))
  })
}
