import { share } from '../../format.ts'
import type { Answered, Question } from './question.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

interface AnswerBarsProps {
  readonly question: Question
  readonly answer: Answered
}

/** The probabilities of an answer as bars, in the order of the question. */
export function AnswerBars({ question, answer }: AnswerBarsProps) {
  return (
    <section className={classes.answer}>
      <h3>{question.instructions}</h3>
      {answer.type === 'refusal' ? (
        <p>{words.refused}</p>
      ) : (
        <ul className={classes.bars}>
          {barsOf(answer).map(({ label, part, isChosen }, index) => (
            <li key={index} data-chosen={isChosen || undefined}>
              <span>{label}</span>
              <span className={classes.meter} aria-hidden="true">
                <i style={{ width: `${part * 100}%` }} />
              </span>
              <span>{share(part)}</span>
            </li>
          ))}
        </ul>
      )}
      {answer.type === 'score' && <p>{words.score(answer.score.toFixed(2))}</p>}
    </section>
  )
}

interface Bar {
  readonly label: string
  readonly part: number
  readonly isChosen: boolean
}

function barsOf(answer: Exclude<Answered, { readonly type: 'refusal' }>): readonly Bar[] {
  if (answer.type === 'predicate') {
    const { probability } = answer
    return [
      { label: words.yes, part: probability, isChosen: probability >= 0.5 },
      { label: words.no, part: 1 - probability, isChosen: probability < 0.5 },
    ]
  }
  if (answer.type === 'choice')
    return answer.probabilities.map(({ value, probability }) => ({
      label: value,
      part: probability,
      isChosen: value === answer.choice,
    }))
  const highest = Math.max(...answer.probabilities.map(({ probability }) => probability))
  return answer.probabilities.map(({ label, probability }) => ({
    label,
    part: probability,
    isChosen: probability === highest,
  }))
}
