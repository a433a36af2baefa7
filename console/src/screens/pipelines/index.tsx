import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Card } from '../../parts/Card.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { useLive } from '../../parts/useLive.ts'
import { useRange } from '../../parts/useRange.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { onePipeline, pipelineList, protocolCounts } from './api.ts'
import { OnePipeline } from './OnePipeline.tsx'
import { keptSearch, PipelineList } from './PipelineList.tsx'
import classes from './pipelines.module.css'
import { words } from './words.ts'

/** What is shown before one is chosen: the pipeline that most clients call. */
const usual = 'chat-completions'

export default function Pipelines() {
  if (useIsAdmin()) return <Shown />
  return (
    <Page title={words.title}>
      <Forbidden what={words.who} />
    </Page>
  )
}

function Shown() {
  const { name: chosen } = useParams({ strict: false }) as { readonly name?: string }
  const { interval } = useLive()
  const range = useRange()
  const list = useQuery(pipelineList)
  const counts = useQuery({ ...protocolCounts(range.key, range.bounds), refetchInterval: interval })
  const all = list.data ?? []
  const name = chosen ?? all.find((one) => one.name === usual)?.name ?? all[0]?.name
  const one = useQuery({ ...onePipeline(name ?? usual), enabled: name !== undefined, refetchInterval: interval })
  const navigate = useNavigate()
  if (list.error && !list.data) return <Alone error={list.error} onRetry={() => void list.refetch()} />
  return (
    <div className={classes.page}>
      <Card className={classes.list}>
        {list.data ? <PipelineList pipelines={all} counts={counts.data} /> : <Skeleton height={600} />}
      </Card>
      <select
        className={classes.select}
        aria-label={words.title}
        value={name}
        onChange={(event) => void navigate({ to: `/pipelines/${event.currentTarget.value}`, search: keptSearch })}
      >
        {all.map((pipeline) => (
          <option key={pipeline.name}>{pipeline.name}</option>
        ))}
      </select>
      {one.data ? (
        <OnePipeline key={one.data.name} pipeline={one.data} isRecord={chosen !== undefined} />
      ) : one.error ? (
        <Alone error={one.error} onRetry={() => void one.refetch()} />
      ) : (
        <Skeleton height={700} />
      )}
    </div>
  )
}

function Alone({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  return (
    <Page title={words.title}>
      <Failure error={error} onRetry={onRetry} />
    </Page>
  )
}
