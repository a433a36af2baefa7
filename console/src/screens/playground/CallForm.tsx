import { useQuery } from '@tanstack/react-query'
import type { FormEvent, KeyboardEvent, ReactNode } from 'react'
import type { CatalogModel } from '../../catalog/models.ts'
import { duration } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { loggedRequest } from './api.ts'
import { Client } from './Client.tsx'
import type { Outgoing } from './post.ts'
import { OutgoingRequest } from './OutgoingRequest.tsx'
import { RequestLink } from './RequestLink.tsx'
import type { Call } from './useCall.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

interface CallFormProps {
  readonly model: string
  readonly onModel: (model: string) => void
  readonly fits?: (model: CatalogModel) => boolean
  readonly call: Call<unknown>
  /** What would be sent now; undefined: something is missing. */
  readonly request: Outgoing | undefined
  /** The button that sends it. */
  readonly action: string
  /** The fields of the request. */
  readonly children: ReactNode
  /** The answer, once it is there. */
  readonly shown: ReactNode
}

/** A request with its fields, and its answer below. */
export function CallForm({ model, onModel, fits, call, request, action, children, shown }: CallFormProps) {
  const { busy, answer, error, failedId, needsKey } = call
  const send = (event: FormEvent) => {
    event.preventDefault()
    if (request && !busy) call.send(request)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit()
  }
  return (
    <form className={classes.call} onSubmit={send} onKeyDown={onKeyDown}>
      <Card>
        <Client model={model} onModel={onModel} needsKey={needsKey} {...(fits && { fits })} />
        {request && <OutgoingRequest request={request} />}
      </Card>
      <Card className={classes.fields}>
        {children}
        <div className={classes.actions}>
          {busy ? (
            <Button onClick={call.stop}>{words.stop}</Button>
          ) : (
            <Button look="primary" type="submit" disabled={!request}>
              {action}
            </Button>
          )}
          <span role="status" className={classes.facts}>
            {busy ? words.waitingForAnswer : answer && <Facts took={answer.took} requestId={answer.requestId} />}
          </span>
        </div>
        {error && !needsKey && !busy && (
          <p role="alert" className={classes.error}>
            {error} {failedId && <Facts requestId={failedId} />}
          </p>
        )}
      </Card>
      {shown}
    </form>
  )
}

function Facts({ took, requestId }: { readonly took?: number; readonly requestId: string | null }) {
  const { data: row } = useQuery({ ...loggedRequest(requestId ?? ''), enabled: requestId !== null })
  return (
    <>
      {took !== undefined && <span>{words.took(duration(took))}</span>}
      {requestId !== null && <RequestLink id={requestId} row={row} />}
    </>
  )
}
