import { useQuery } from '@tanstack/react-query'
import { systemInfo } from '../../api/attention.ts'
import { ago, bytes, count } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Status } from '../../parts/Status.tsx'
import { words } from './words.ts'
import classes from './configuration.module.css'

const stores = { up: 'good', down: 'bad', absent: 'off' } as const

/** What the gateway is and on what it runs. */
export function System() {
  const { data, error, refetch } = useQuery(systemInfo)
  const { facts } = words
  return (
    <Card title={words.system}>
      {error && !data ? (
        <Failure error={error} onRetry={() => void refetch()} />
      ) : !data ? (
        <Skeleton height={200} />
      ) : (
        <dl className={classes.facts}>
          <dt>{facts.version}</dt>
          <dd>{data.version}</dd>
          <dt>{facts.node}</dt>
          <dd>{data.node}</dd>
          <dt>{facts.platform}</dt>
          <dd>{data.platform}</dd>
          <dt>{facts.started}</dt>
          <dd>
            <time dateTime={data.started_at} title={data.started_at}>
              {ago(data.started_at)}
            </time>
          </dd>
          <dt>{facts.instance}</dt>
          <dd>
            <code>{data.instance}</code>
          </dd>
          <dt>{facts.database}</dt>
          <dd>
            {data.database.bytes === null
              ? data.database.dialect
              : `${data.database.dialect}, ${bytes(data.database.bytes)}`}
          </dd>
          <dt>{facts.keyValue}</dt>
          <dd>
            <Status state={stores[data.key_value.state]}>{words.stores[data.key_value.state]}</Status>
          </dd>
          <dt>{facts.masterSecret}</dt>
          <dd>{data.master_secret}</dd>
          <dt>{facts.rows}</dt>
          <dd>{count(data.log.queued)}</dd>
          <dt>{facts.dropped}</dt>
          <dd>{count(data.log.dropped_rows)}</dd>
        </dl>
      )}
    </Card>
  )
}
