import { Refusal } from '../api/ask.ts'
import { shared } from '../words.ts'
import { Button } from './Button.tsx'
import { CopyButton } from './CopyButton.tsx'
import { Status } from './Status.tsx'
import classes from './Notice.module.css'

interface FailureProps {
  readonly error: Error
  /** Asks again. */
  readonly onRetry?: () => void
}

/** Stands in the place of what could not be shown: the sentence of the gateway, its code, and the request to look for. */
export function Failure({ error, onRetry }: FailureProps) {
  const { code, requestId } = error instanceof Refusal ? error : { code: undefined, requestId: null }
  return (
    <div className={`${classes.notice} ${classes.failure}`} role="alert">
      <Status state="bad">{error.message}</Status>
      <div className={classes.facts}>
        {code !== undefined && <code>{code}</code>}
        {requestId !== null && (
          <>
            <span>{shared.request}</span>
            <code>{requestId}</code>
            <CopyButton text={requestId} what="request id" />
          </>
        )}
      </div>
      {onRetry && (
        <Button small icon="reload" onClick={onRetry}>
          {shared.retry}
        </Button>
      )}
    </div>
  )
}
