import type { ReactNode } from 'react'
import { share } from '../format.ts'
import { borders, tiers } from './decision.ts'
import type { Tier, Vote } from './decision.ts'
import { words } from './decision-words.ts'
import classes from './TierScale.module.css'

interface TierScaleProps {
  readonly complexity: number
  readonly tier: Tier
  /** What the signals said together, where floors, caps or the judge changed it. */
  readonly blended: number | null
  readonly judge: number | undefined
  readonly votes: Readonly<Record<string, Vote>> | null
}

const parts = tiers.map((name, index) => ({ name, from: borders[index - 1] ?? 0, to: borders[index] ?? 1 }))
const percent = (value: number) => `${Math.min(1, Math.max(0, value)) * 100}%`

/** How hard a request is, from 0 to 1, with the borders of the tiers, and where each signal and the judge see it. */
export function TierScale({ complexity, tier, blended, judge, votes }: TierScaleProps) {
  const isRight = complexity > 0.8
  return (
    <>
      <svg className={classes.scale} role="img" aria-label={words.scale(complexity.toFixed(2), tier)}>
        <g className={classes.bar}>
          {parts.map(({ name, from, to }) => (
            <rect
              key={name}
              x={percent(from)}
              y={24}
              width={percent(to - from)}
              height={10}
              className={classes[name]}
            />
          ))}
        </g>
        {parts.map(({ name, from, to }) => (
          <text key={name} x={percent((from + to) / 2)} y={51} className={name === tier ? classes.tier : undefined}>
            {name}
          </text>
        ))}
        {borders.map((border) => (
          <text key={border} x={percent(border)} y={51}>
            {short(border)}
          </text>
        ))}
        {Object.entries(votes ?? {}).map(([signal, { complexity: voted, weight = 0, confidence = 0 }]) => (
          <Mark key={signal} at={voted}>
            <circle cy={29} r={radiusOf(weight * confidence)} className={classes.vote} />
          </Mark>
        ))}
        <Mark at={blended}>
          <path d={shapes.blended} className={classes.blended} />
        </Mark>
        <Mark at={judge}>
          <path d={shapes.judge} className={classes.judge} />
        </Mark>
        <Mark at={complexity}>
          <path d={shapes.result} className={classes.result} />
          <text x={isRight ? -10 : 10} y={13} textAnchor={isRight ? 'end' : 'start'} className={classes.figure}>
            {complexity.toFixed(2)}
          </text>
        </Mark>
      </svg>
      <ul className={classes.legend} aria-label={words.signals}>
        {Object.entries(votes ?? {}).map(([signal, vote]) => (
          <Sign
            key={signal}
            shape={<circle cy={29} r={4} className={vote.abstained ? classes.silent : classes.vote} />}
          >
            <span>{wordOf(signal, vote)}</span>
            <span className={classes.faint}>{vote.share !== undefined && words.voteShare(share(vote.share))}</span>
            <span className={classes.faint}>{!vote.abstained && vote.reasons?.join(', ')}</span>
          </Sign>
        ))}
        {blended !== null && (
          <Sign shape={<path d="M-5 25H5l-5 8z" className={classes.blended} />}>{words.blended(short(blended))}</Sign>
        )}
        {judge !== undefined && (
          <Sign shape={<path d={shapes.judge} className={classes.judge} />}>{words.judgeMark(short(judge))}</Sign>
        )}
      </ul>
    </>
  )
}

/** Around a middle at 29, where the bar is. */
const shapes = {
  result: 'M0 38V16m-5-6h10l-5 7z',
  blended: 'M0 38V20m-5-6h10l-5 7z',
  judge: 'M0 23l6 6-6 6-6-6z',
}

function Mark({ at, children }: { readonly at: number | null | undefined; readonly children: ReactNode }) {
  if (at === null || at === undefined) return null
  return (
    <svg x={percent(at)} className={classes.mark}>
      {children}
    </svg>
  )
}

/** A mark of the scale with its words. */
function Sign({ shape, children }: { readonly shape: ReactNode; readonly children: ReactNode }) {
  return (
    <li>
      <svg width={14} height={14} viewBox="-7 22 14 14" aria-hidden="true">
        {shape}
      </svg>
      {children}
    </li>
  )
}

function wordOf(signal: string, { complexity, reasons = [] }: Vote): string {
  if (complexity !== undefined) return words.vote(signal, short(complexity))
  const [reason] = reasons
  return reason === 'late' || reason === 'failed' ? words.missing[reason](signal) : words.silent(signal)
}

/** The area of a mark grows with what the vote counts for. */
const radiusOf = (effect: number) => 3 + 4 * Math.sqrt(Math.min(1, effect))

/** `.58`, as figures of this scale are written. */
export const short = (value: number): string => value.toFixed(2).replace(/^0\./, '.')
