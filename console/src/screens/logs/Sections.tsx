import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Decision } from '../../parts/Decision.tsx'
import { fromBlock } from '../../parts/decision.ts'
import { Rating } from '../../parts/Rating.tsx'
import { Status } from '../../parts/Status.tsx'
import { Bodies } from './Bodies.tsx'
import { Figures } from './Figures.tsx'
import { Guards } from './Guards.tsx'
import { Metadata } from './Metadata.tsx'
import type { Detail } from './row.ts'
import { words } from './request-words.ts'
import { states } from './states.ts'
import { Timeline } from './Timeline.tsx'
import { TokensAndCost } from './TokensAndCost.tsx'
import { Lost, Tries } from './Tries.tsx'
import classes from './request.module.css'

/** Everything that is known of a request, a card each. */
export function Sections({ request }: { readonly request: Detail }) {
  return (
    <>
      {request.error !== null && <Failed request={request} code={request.error} />}
      <Figures request={request} />
      <div className={classes.columns}>
        <div className={classes.column}>
          <Timeline request={request} />
          <div className={classes.pair}>
            <Tries tries={request.tries} />
            <Lost request={request} />
          </div>
          <Guards metadata={request.metadata} />
          <Bodies request={request} />
        </div>
        <div className={classes.column}>
          <Choice request={request} />
          <TokensAndCost request={request} />
          <Metadata request={request} />
        </div>
      </div>
    </>
  )
}

/** Why it failed, and how to read more about it. */
function Failed({ request, code }: { readonly request: Detail; readonly code: string }) {
  const { error_detail: detail, result } = request
  const command = words.explainCommand(code)
  return (
    <Card className={classes.failed} label={words.error}>
      <Status state={states[result]}>
        <span className={classes.sentence}>{detail?.message ?? code}</span>
      </Status>
      <span className={classes.facts}>
        <code>{code}</code>
        {detail?.at != null && (
          <span>
            {words.errorAt} <code>{detail.at}</code>
          </span>
        )}
        <code>{command}</code>
        <CopyButton text={command} what={words.explain} />
      </span>
    </Card>
  )
}

/** Why this model, where one was chosen or named. */
function Choice({ request }: { readonly request: Detail }) {
  const { id, type, result, routing, metadata, tries, feedback } = request
  if (!routing)
    return isNamed(request) ? (
      <Card title={words.decision}>
        <p className={classes.faint}>{words.notRouted}</p>
      </Card>
    ) : null
  const { routing_reasoning: reasoning } = metadata
  const failed = tries.flatMap(({ model, status, error }): [string, string][] =>
    model !== null && error !== null ? [[model, String(status ?? error)]] : [],
  )
  return (
    <Decision
      label={words.decision}
      decision={fromBlock(routing)}
      reasoning={typeof reasoning === 'string' ? reasoning : undefined}
      fates={new Map(failed)}
    >
      {routing.chosen !== null && result !== 'refused' && type !== 'judge' && (
        <Rating id={id} given={feedback?.signal ?? null} />
      )}
    </Decision>
  )
}

/** Whether its client named a model. Those that the judge is asked have no client; those that ended early may have asked for any. */
const isNamed = ({ type, requested, model, tries }: Detail): boolean =>
  type !== 'judge' && requested !== null && (model !== null || tries.length > 0)
