import { useState } from 'react'
import { count, money } from '../format.ts'
import { Button } from './Button.tsx'
import type { Candidate, Drawn } from './decision.ts'
import { words } from './decision-words.ts'
import classes from './Decision.module.css'

interface CandidatesProps {
  readonly decision: Drawn
  readonly fates?: ReadonlyMap<string, string>
}

/** How many candidates are shown before somebody wants to see all. */
const few = 8

/** The models that could serve a request in their order, as bars of their score, and below them those that a gate took. */
export function Candidates({ decision, fates }: CandidatesProps) {
  const [all, setAll] = useState(false)
  const { candidates } = decision
  if (candidates.length === 0) return null
  const isScored = candidates.some(({ score }) => score !== undefined)
  const shown = all ? candidates : candidates.slice(0, few)
  return (
    <>
      <table className={classes.candidates}>
        <caption className="visually-hidden">{words.candidates}</caption>
        <thead>
          <tr>
            <th scope="col">{words.candidate}</th>
            {isScored && (
              <th scope="col" colSpan={2}>
                {words.score}
              </th>
            )}
            <th scope="col">
              <span className="visually-hidden">{words.outcome}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map((candidate, index) => (
            <tr key={candidate.model} data-out={candidate.excluded !== undefined || undefined}>
              <th scope="row" title={candidate.model}>
                {candidate.model}
              </th>
              {isScored && <Score score={candidate.score} />}
              <td className={classes.outcome}>{outcomeOf(candidate, index, decision, fates)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < candidates.length && (
        <Button small look="quiet" onClick={() => setAll(true)}>
          {words.more(count(candidates.length - shown.length))}
        </Button>
      )}
    </>
  )
}

function Score({ score }: { readonly score: number | undefined }) {
  if (score === undefined) return <td colSpan={2} />
  return (
    <>
      <td className={classes.score}>
        <span className={classes.bar} aria-hidden="true">
          <i style={{ width: `${Math.min(1, Math.max(0, score)) * 100}%` }} />
        </span>
      </td>
      <td className={classes.figure}>{score.toFixed(2).replace('-', '−')}</td>
    </>
  )
}

function outcomeOf(
  { model, excluded, cost }: Candidate,
  index: number,
  { served, chosen, incumbent }: Drawn,
  fates?: ReadonlyMap<string, string>,
): string {
  if (excluded !== undefined) return words.out(words.gates[excluded] ?? excluded)
  const parts = [
    model === served ? words.served : model === chosen && index === 0 ? words.first : undefined,
    fates?.get(model),
    model === incumbent ? words.incumbent : undefined,
    typeof cost === 'number' ? words.expected(money(cost)) : undefined,
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}
