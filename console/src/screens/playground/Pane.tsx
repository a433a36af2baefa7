import { useQuery } from '@tanstack/react-query'
import { count, duration, money } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { fromBlock } from '../../parts/decision.ts'
import { Decision } from '../../parts/Decision.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Rating } from '../../parts/Rating.tsx'
import { loggedRequest } from './api.ts'
import { RequestLink } from './RequestLink.tsx'
import type { Talk } from './useConversation.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

/** One conversation: what was said, the answer as it grows, its figures, and why this model. */
export function Pane({
  model,
  talk,
  alone,
  other = false,
}: {
  readonly model: string
  readonly talk: Talk
  readonly alone: boolean
  readonly other?: boolean
}) {
  const { turns, progress, busy } = talk
  const growing = progress !== null && turns.at(-1)?.role === 'user' ? progress : null
  return (
    <section className={classes.pane}>
      <div
        role="log"
        aria-label={alone ? words.conversation : words.conversationOf(model)}
        aria-busy={busy}
        tabIndex={0}
        className={classes.log}
      >
        {turns.length === 0 && <p className={classes.nothing}>{words.nothing}</p>}
        {turns.map(({ role, text, model: asked = model }, index) => (
          <div key={index} className={classes.turn}>
            <span className={classes.who}>{role === 'user' ? words.you : asked}</span>
            <pre className={role === 'user' ? classes.asked : classes.said}>{text}</pre>
            {role === 'assistant' && <CopyButton text={text} what={words.answer} />}
          </div>
        ))}
        {growing && !growing.error && (
          <div className={classes.turn}>
            <span className={classes.who}>{turns.at(-1)?.model ?? model}</span>
            <pre className={classes.said}>{growing.text || (growing.done ? words.noText : words.waiting)}</pre>
          </div>
        )}
        {progress?.error && (
          <p role="alert" className={classes.error}>
            {progress.error}
          </p>
        )}
      </div>
      {progress && <Figures {...progress} />}
      {progress?.done && progress.requestId && (
        <AnswerDecision
          key={progress.requestId}
          id={progress.requestId}
          title={other ? words.otherDecision : words.decision}
        />
      )}
    </section>
  )
}

function Figures({ firstText, took, outputTokens, model, requestId, done }: NonNullable<Talk['progress']>) {
  const { data: row } = useQuery({ ...loggedRequest(requestId ?? ''), enabled: done && requestId !== null })
  const seconds = firstText === null ? 0 : (took - firstText) / 1000
  const facts = [
    model,
    firstText === null ? null : words.firstText(duration(firstText)),
    words.took(duration(took)),
    outputTokens === null || seconds <= 0 ? null : words.rate(count(Math.round(outputTokens / seconds))),
    row ? words.cost(money(row.cost)) : null,
  ]
  return (
    <p className={classes.facts}>
      {facts
        .filter((fact) => fact !== null)
        .map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      {requestId !== null && <RequestLink id={requestId} row={row} />}
    </p>
  )
}

/** Why this model answered, as the log has it, and what the user thinks of the choice. */
function AnswerDecision({ id, title }: { readonly id: string; readonly title: string }) {
  const { data: row, error } = useQuery(loggedRequest(id))
  if (row?.routing)
    return (
      <Decision label={title} decision={fromBlock(row.routing)} reasoning={row.metadata.routing_reasoning}>
        {typeof row.routing.chosen === 'string' && <Rating id={row.id} given={row.feedback?.signal ?? null} />}
      </Decision>
    )
  return (
    <Card title={title}>
      {error && <Failure error={error} />}
      {!error && row === null && <p className={classes.nothing}>{words.decisionLater}</p>}
      {row && <p className={classes.nothing}>{words.noDecision}</p>}
    </Card>
  )
}
