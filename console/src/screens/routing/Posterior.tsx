import { count } from '../../format.ts'
import type { Learned } from './api.ts'
import { densityOf } from './density.ts'
import classes from './routing.module.css'
import { words } from './words.ts'

const width = 96
const height = 24

/** What is believed of a model in a mode and tier: the density of how likely its answer is good enough. */
export function Posterior({ learned }: { readonly learned: Learned }) {
  const { model, mode, tier, mean, strength, pulls, feedback } = learned
  const { heights, low, high } = densityOf(mean * strength, (1 - mean) * strength)
  const line = heights.map((one, index) => `${index} ${(height - one * (height - 2)).toFixed(1)}`)
  const within = line.slice(Math.round(low * width), Math.round(high * width) + 1)
  const said = words.density(mean.toFixed(2), low.toFixed(2), high.toFixed(2), count(pulls))
  return (
    <div
      className={classes.posterior}
      title={`${said}, ${words.ratingsOf(feedback.weak, feedback.ok, feedback.strong)}`}
    >
      <svg width={width} height={height} role="img" aria-label={words.densityOf(model, mode, tier, said)}>
        <path d={`M${low * width} ${height}L${within.join('L')}L${high * width} ${height}z`} className={classes.band} />
        <path d={`M${line.join('L')}`} className={classes.curve} />
        <path d={`M${mean * width} 0V${height}`} className={classes.tick} />
      </svg>
      <span>
        {mean.toFixed(2)} <span className={classes.faint}>{words.pulls(count(pulls))}</span>
      </span>
    </div>
  )
}
