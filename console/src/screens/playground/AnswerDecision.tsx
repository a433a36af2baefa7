import { useQuery } from '@tanstack/react-query'
import { Card } from '../../parts/Card.tsx'
import { Decision } from '../../parts/Decision.tsx'
import { fromBlock } from '../../parts/decision.ts'
import { Failure } from '../../parts/Failure.tsx'
import { Rating } from '../../parts/Rating.tsx'
import { loggedRequest } from './api.ts'
import classes from './playground.module.css'
import { words } from './words.ts'

/** Why this model answered, as the log has it, and what the user thinks of the choice. */
export function AnswerDecision({ id, title }: { readonly id: string; readonly title: string }) {
  const { data: row, error } = useQuery(loggedRequest(id))
  if (row?.routing)
    return (
      <Decision label={title} decision={fromBlock(row.routing)} reasoning={row.metadata.routing_reasoning}>
        {row.routing.chosen !== null && <Rating id={row.id} given={row.feedback?.signal ?? null} />}
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
