import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, Refusal } from '../../api/ask.ts'
import { configurationStatus } from '../../api/status.ts'
import { Button } from '../../parts/Button.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { toast } from '../../parts/toast.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { Circuits } from './Circuits.tsx'
import { Running } from './Running.tsx'
import { Processes } from './Processes.tsx'
import { System } from './System.tsx'
import { words } from './words.ts'
import classes from './configuration.module.css'

/** Which configuration runs, whether the latest reload was refused and where, and on what the gateway runs. */
export default function Configuration() {
  return <Page title={words.title}>{useIsAdmin() ? <Shown /> : <Forbidden what={words.forbidden} />}</Page>
}

function Shown() {
  const queries = useQueryClient()
  const { data: status, error, refetch } = useQuery(configurationStatus)
  const reload = useMutation({
    mutationFn: () => ask('POST', '/api/config/reload'),
    onSuccess: () => toast(words.reloaded),
    onSettled: () => queries.invalidateQueries({ queryKey: configurationStatus.queryKey }),
  })
  // The findings of a refused reload stand in the status, with their places.
  const failed = reload.error instanceof Refusal && reload.error.code === 'invalid_configuration' ? null : reload.error
  return (
    <>
      {failed && <Failure error={failed} />}
      <div className={classes.columns}>
        <div className={classes.side}>
          {error && !status ? (
            <Failure error={error} onRetry={() => void refetch()} />
          ) : !status ? (
            <Skeleton height={180} />
          ) : (
            <Running
              status={status}
              actions={
                <Button busy={reload.isPending} icon="reload" onClick={() => reload.mutate()}>
                  {words.reload}
                </Button>
              }
            />
          )}
          <Circuits />
        </div>
        <div className={classes.side}>
          {status && <Processes processes={status.processes} />}
          <System />
        </div>
      </div>
    </>
  )
}
