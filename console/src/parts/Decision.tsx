import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { money } from '../format.ts'
import { Candidates } from './Candidates.tsx'
import { Card } from './Card.tsx'
import { complexityOf, gainOf } from './decision.ts'
import type { Drawn, JudgeBlock } from './decision.ts'
import { noteOf, words } from './decision-words.ts'
import { Status } from './Status.tsx'
import { Tag } from './Tag.tsx'
import { short, TierScale } from './TierScale.tsx'
import { useIsAdmin } from './useUser.ts'
import classes from './Decision.module.css'

interface DecisionProps {
  /** From `fromBlock` or `fromPreview`. */
  readonly decision: Drawn
  /** The reasoning of the row, `metadata.routing_reasoning`; otherwise it is made of the notes. */
  readonly reasoning?: string | undefined
  /** What became of a model that was asked, such as `429`. */
  readonly fates?: ReadonlyMap<string, string>
  /** Names the region where the page has several. */
  readonly label?: string
  /** Below everything, such as how people rate it. */
  readonly children?: ReactNode
}

/** A decision of smart routing, the same wherever it is shown: how hard the request is, who could serve it, and why. */
export function Decision({ decision, reasoning, fates, label = words.title, children }: DecisionProps) {
  const { mode, tier, complexity, confidence, chosen, served, votes, notes, judge, wouldAsk, error } = decision
  const model = served ?? chosen
  return (
    <Card
      label={label}
      title={model === null ? words.refused : words.why(model)}
      note={<Tag look="accent">{tier === null ? mode : words.asked(mode, tier)}</Tag>}
      actions={confidence !== null && <span className={classes.faint}>{words.confidence(confidence.toFixed(2))}</span>}
    >
      {error && (
        <p className={classes.error}>
          <Status state="bad">{error.message ?? error.code}</Status>
        </p>
      )}
      {tier !== null && complexity !== null && (
        <TierScale
          {...{ tier, complexity, votes, blended: decision.blended, judge: judge ? complexityOf(judge) : undefined }}
        />
      )}
      <Gain decision={decision} />
      <Candidates decision={decision} {...(fates && { fates })} />
      <Money decision={decision} />
      {judge && <Judge judge={judge} tier={decision.tier} />}
      {wouldAsk && (
        <p className={classes.line}>
          {wouldAsk.would_ask ? words.wouldAsk : words.wouldNotAsk}{' '}
          <span className={classes.faint}>{words.because[wouldAsk.because] ?? wouldAsk.because}</span>
        </p>
      )}
      <Notes notes={notes} />
      <p className={classes.reasons} aria-label={words.reasons} role="note">
        {reasoning ?? reasonsOf(decision)}
      </p>
      {!votes && <Undiagnosed />}
      {children}
    </Card>
  )
}

/** Models are compared by what a better one gains, so a hard prompt may stay with a cheap one. */
function Gain({ decision }: { readonly decision: Drawn }) {
  const gain = gainOf(decision)
  return gain && <p className={classes.line}>{words.gain[gain](short(decision.benefit ?? 0))}</p>
}

function Money({ decision: { estimate, savings, served } }: { readonly decision: Drawn }) {
  if (savings !== null)
    return (
      <p className={classes.line}>
        {estimate?.baseline ? words.saved(money(savings), estimate.baseline) : words.savedNothing(money(savings))}
      </p>
    )
  if (served !== null || !estimate || estimate.cost === null || estimate.baseline_cost === null) return null
  return <p className={classes.line}>{words.predicted(money(estimate.cost), money(estimate.baseline_cost))}</p>
}

function Judge({ judge, tier }: { readonly judge: JudgeBlock; readonly tier: string | null }) {
  const { verdict, distribution, shadow, applied, held, latency_ms: latency, error } = judge
  const state = shadow ? words.shadow : applied ? words.applied : held ? words.held : undefined
  const said =
    verdict === null
      ? (words.judgeErrors[error ?? ''] ?? words.judgeError(error ?? ''))
      : verdict === tier
        ? words.agrees
        : words.differs(tier ?? '')
  return (
    <div className={classes.judge}>
      <span>
        {words.judge} {state !== undefined && <Tag>{state}</Tag>}
      </span>
      {distribution && <Distribution distribution={distribution} verdict={verdict} />}
      <span className={classes.said}>
        {verdict !== null && !distribution && <b>{verdict}</b>} {said}
        {latency !== null && `, ${latency} ms`}
      </span>
    </div>
  )
}

type DistributionProps = {
  readonly distribution: NonNullable<JudgeBlock['distribution']>
  readonly verdict: string | null
}

function Distribution({ distribution, verdict }: DistributionProps) {
  const masses = Object.entries(distribution)
  return (
    <>
      <span className={classes.masses} aria-hidden="true">
        {masses.map(([tier, mass]) => (
          <i key={tier} style={{ width: `${mass * 100}%` }} />
        ))}
      </span>
      <span className={classes.shares}>
        {masses.map(([tier, mass]) => (
          <span key={tier} data-verdict={tier === verdict || undefined}>
            {words.mass(tier, short(mass))}
          </span>
        ))}
      </span>
    </>
  )
}

function Notes({ notes }: { readonly notes: readonly string[] }) {
  const told = notes.map(noteOf).filter((note) => note !== undefined)
  if (told.length === 0) return null
  return (
    <ul className={classes.notes}>
      {told.map(({ tag, sentence }) => (
        <li key={sentence}>
          <Tag look="accent">{tag}</Tag> {sentence}
        </li>
      ))}
    </ul>
  )
}

const reasonsOf = ({ tier, notes, chosen }: Drawn) =>
  [...(tier ? [`tier=${tier}`] : []), ...notes, ...(chosen ? [`chosen=${chosen}`] : [])].join(' | ')

function Undiagnosed() {
  const isAdmin = useIsAdmin()
  return (
    <p className={classes.undiagnosed}>
      {words.undiagnosed}{' '}
      {isAdmin ? (
        <Link to="/routing" search={{ tab: 'settings' }}>
          {words.toSettings}
        </Link>
      ) : (
        <Link to="/account">{words.toAccount}</Link>
      )}
    </p>
  )
}
