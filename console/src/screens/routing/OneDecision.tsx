import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { fromBlock } from '../../parts/decision.ts'
import { Decision } from '../../parts/Decision.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Rating } from '../../parts/Rating.tsx'
import { useAddress } from '../../parts/search.ts'
import { useEscape } from '../../parts/useEscape.ts'
import { request } from './api.ts'
import { words } from './words.ts'
import classes from './routing.module.css'

/** The decision of one request, in the place of the preview. */
export function OneDecision({ id }: { readonly id: string }) {
  const [, change] = useAddress()
  const query = useQuery(request(id))
  const close = useCallback(() => change({ decision: undefined }), [change])
  useEscape(close)
  return (
    <>
      <div className={classes.bar}>
        <Button small icon="arrow-left" onClick={close}>
          {words.closeDecision}
        </Button>
        <Link to={`/logs/${id}`}>{words.openRequest}</Link>
      </div>
      <Loaded query={query} height={320}>
        {({ routing, metadata, feedback, tries }) =>
          routing ? (
            <Decision
              decision={fromBlock(routing)}
              reasoning={metadata.routing_reasoning}
              fates={
                new Map(
                  tries.flatMap(({ model, status, error }) =>
                    model && error ? [[model, String(status ?? error)]] : [],
                  ),
                )
              }
            >
              {typeof routing.chosen === 'string' && <Rating key={id} id={id} given={feedback?.signal ?? null} />}
            </Decision>
          ) : (
            <Card>
              <Empty text={words.notRouted} />
            </Card>
          )
        }
      </Loaded>
    </>
  )
}
