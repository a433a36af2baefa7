import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { ask, Refusal } from '../../api/ask.ts'
import { configurationStatus } from '../../api/status.ts'
import type { ConfigurationStatus } from '../../api/status.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Status } from '../../parts/Status.tsx'
import { toast } from '../../parts/toast.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { Circuits } from './Circuits.tsx'
import { Running } from './Running.tsx'
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

/** The processes that share the database, and which version each runs. */
function Processes({ processes }: Pick<ConfigurationStatus, 'processes'>) {
  return (
    <Card title={words.processes}>
      <table className={classes.table}>
        <caption className="visually-hidden">{words.processes}</caption>
        <thead>
          <tr>
            <th scope="col">{words.process}</th>
            <th scope="col">{words.version}</th>
            <th scope="col">{words.state}</th>
          </tr>
        </thead>
        <tbody>
          {processes.map(({ id, version, current }) => (
            <tr key={id}>
              <td>
                <code title={id}>{id.slice(0, 8)}</code>
              </td>
              <td>
                <code title={version}>{version.slice(0, 8)}</code>
              </td>
              <td>
                <Status state={current ? 'good' : 'warning'}>{current ? words.current : words.other}</Status>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
