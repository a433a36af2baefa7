import { useQuery } from '@tanstack/react-query'
import { Refusal } from '../api/ask.ts'
import { lastChange } from '../api/lastChange.ts'
import { relative } from '../format.ts'
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
  const by = useLastChange(error)
  const { code, requestId } = error instanceof Refusal ? error : { code: undefined, requestId: null }
  return (
    <div className={`${classes.notice} ${classes.failure}`} role="alert">
      <Status state="bad">{by ? shared.changedBy(by.name, relative(by.at)) : error.message}</Status>
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

/** Who made the version that a change was refused for. */
function useLastChange(error: Error) {
  const stale = error instanceof Refusal && error.status === 412 ? error : undefined
  return useQuery({
    queryKey: ['last-change', stale?.path, stale?.requestId],
    queryFn: async () => (stale && (await lastChange(stale))) ?? null,
    enabled: stale !== undefined,
    // Without an id, the next refusal of the same record would get the answer of this one.
    ...(stale?.requestId === null ? { staleTime: 0, gcTime: 0 } : { staleTime: Infinity }),
  }).data
}
