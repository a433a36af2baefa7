import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Page } from '../../parts/Page.tsx'
import { RequestSteps } from '../../parts/RequestSteps.tsx'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Segments } from '../../parts/Segments.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Status } from '../../parts/Status.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { Yaml } from '../../parts/Yaml.tsx'
import { Picture } from '../../picture/Picture.tsx'
import { everyStep } from '../../picture/plan.ts'
import { runsOfHour, runsOfRequest } from '../../picture/runs.ts'
import { ActionTable } from './ActionTable.tsx'
import { onePipeline, oneRequest } from './api.ts'
import type { WholePipeline } from './api.ts'
import { StagePanel } from './StagePanel.tsx'
import { words } from './words.ts'
import { firstLine, homeOf, linesOf, stepAt } from './yaml-lines.ts'
import classes from './pipelines.module.css'

interface OnePipelineProps {
  readonly pipeline: WholePipeline
  /** Whether the address names it; else the page is the list's. */
  readonly isRecord: boolean
}

/** A pipeline: its picture, and beside it the selected step with its YAML. */
export function OnePipeline({ pipeline, isRecord }: OnePipelineProps) {
  const { name, summary, protocol, routes, without = [], times, error, actions } = pipeline
  const [search, change] = useAddress()
  const request = oneOf(search, 'request')
  const steps = everyStep([...pipeline.plan, ...pipeline.finally])
  const wanted = oneOf(search, 'stage')
  const selected = steps.find(({ path }) => path === wanted) ?? steps[0]
  const select = (stage: string) => change({ stage })
  const [route] = routes
  return (
    <div className={classes.detail}>
      <div className={classes.main}>
        <Card>
          <Page
            title={isRecord ? name : words.title}
            aside={
              <>
                {!isRecord && <code className={classes.strong}>{name}</code>}
                {route && !actions && <Tag>{route.access}</Tag>}
                {protocol !== null && <Tag>{protocol}</Tag>}
                {without.length > 0 && <Tag look="warning">{words.without(without)}</Tag>}
              </>
            }
            actions={
              <Segments
                label={words.view}
                options={[
                  { value: 'hour', label: words.hour },
                  { value: 'one', label: words.one },
                ]}
                value={request === undefined ? 'hour' : 'one'}
                onChange={(view) => change({ request: view === 'hour' ? undefined : (request ?? 'none') })}
              />
            }
          >
            <p className={classes.summary}>
              {summary} {route && <code>{`${route.method} ${route.path}`}</code>}{' '}
              {routes.length > 1 && <span className={classes.faint}>{words.more(routes.length - 1)}</span>}
            </p>
            {error && <Refused findings={error.findings} />}
            {request === undefined ? (
              <>
                {times.data.length === 0 && <p className={classes.faint}>{words.noRequestYet}</p>}
                <Picture
                  name={name}
                  plan={pipeline}
                  runs={runsOfHour(times.data)}
                  selected={selected?.path}
                  onSelect={select}
                />
              </>
            ) : request === 'none' ? (
              <Empty text={words.noRequest} />
            ) : (
              <OfRequest id={request} pipeline={pipeline} selected={selected?.path} onSelect={select} />
            )}
          </Page>
        </Card>
        {actions && (
          <Card>
            <ActionTable actions={actions} />
          </Card>
        )}
      </div>
      <div className={classes.aside}>
        {selected && (
          <>
            <Card>
              <StagePanel
                step={selected}
                times={times.data.find(({ path }) => path === selected.path)}
                pipeline={name}
                since={times.since}
                onSlot={(slot) => {
                  const before = steps.slice(0, Math.max(0, steps.indexOf(selected)) + 1)
                  const gives = (one: (typeof steps)[number]) => one.provides?.includes(slot) === true
                  const giver = before.findLast((one) => one !== selected && gives(one)) ?? steps.find(gives)
                  if (giver) select(giver.path)
                }}
              />
            </Card>
            <Source pipeline={pipeline} selected={selected} onSelect={select} />
          </>
        )}
        <Proved pipeline={pipeline} />
      </div>
    </div>
  )
}

interface SourceProps {
  readonly pipeline: WholePipeline
  readonly selected: WholePipeline['plan'][number]
  readonly onSelect: (path: string) => void
}

/** The YAML of the pipeline in which the selected step stands, with its lines marked. */
function Source({ pipeline, selected, onSelect }: SourceProps) {
  const home = homeOf(selected.path, pipeline)
  const other = useQuery({ ...onePipeline(home?.name ?? ''), enabled: home !== undefined })
  const source = home ? other.data : pipeline
  if (!source) return other.error ? <Failure error={other.error} /> : <Skeleton height={300} />
  const first = firstLine(source.yaml, source)
  return (
    <section className={classes.yaml} aria-label={words.yaml}>
      <div className={classes.yamlHead}>
        <h2>{source.file}</h2>
        <CopyButton text={source.yaml} what={words.yaml} />
      </div>
      <Yaml
        text={source.yaml}
        first={first}
        marked={linesOf(selected, source.yaml, first)}
        onLine={(line) => {
          const step = stepAt(line, home, pipeline)
          if (step) onSelect(step.path)
        }}
      />
    </section>
  )
}

interface OfRequestProps {
  readonly id: string
  readonly pipeline: WholePipeline
  readonly selected: string | undefined
  readonly onSelect: (path: string) => void
}

/** The path that one request took, with its own times. */
function OfRequest({ id, pipeline, selected, onSelect }: OfRequestProps) {
  const { pathname: to } = useLocation()
  const [search] = useAddress()
  const request = useQuery(oneRequest(id))
  if (!request.data)
    return request.error ? (
      <Failure error={request.error} onRetry={() => void request.refetch()} />
    ) : (
      <Skeleton height={600} />
    )
  const { spans, tries, metadata } = request.data
  const isOther = metadata.pipeline !== undefined && metadata.pipeline !== pipeline.name
  return (
    <>
      <p className={classes.request}>
        <Link to={`/logs/${id}`}>{words.request(id)}</Link> <CopyButton text={id} what="request id" />
        <RequestSteps
          key={id}
          row={request.data}
          filters={{ pipeline: [pipeline.name] }}
          linkTo={(other) => ({ to, search: { ...search, request: other } })}
        />
      </p>
      {isOther ? (
        <Empty text={words.otherPipeline} />
      ) : (
        <Picture
          name={pipeline.name}
          plan={pipeline}
          runs={runsOfRequest(spans, tries)}
          selected={selected}
          onSelect={onSelect}
        />
      )}
    </>
  )
}

function Refused({ findings }: { readonly findings: NonNullable<WholePipeline['error']>['findings'] }) {
  return (
    <div role="status" className={classes.refused}>
      <Status state="warning">{words.refused}</Status>
      {findings.map(({ file, line, column, message }) => (
        <p key={`${file}:${line}:${column}:${message}`}>
          <code>{`${file}:${line}:${column}`}</code> {message}{' '}
          <CopyButton text={`${file}:${line}:${column}`} what={words.path} />
        </p>
      ))}
    </div>
  )
}

/** What the gateway has checked of every pipeline that it runs. */
function Proved({ pipeline: { routes, plan, finally: last, without = [] } }: { readonly pipeline: WholePipeline }) {
  const steps = everyStep(plan)
  const asks = steps.some(({ kind, name }) => kind === 'stage' && name === 'auth')
  const owes = steps.some((step) => step.owes?.some((duty) => !without.includes(duty)))
  const logs = !without.includes('log') && everyStep(last).some(({ name }) => name === 'log')
  return (
    <Card title={words.proved}>
      <ul className={classes.proved}>
        <li>
          <Status state="good">{words.provedSlots}</Status>
        </li>
        {asks && routes.length > 0 && (
          <li>
            <Status state="good">{words.provedAccess}</Status>
          </li>
        )}
        {owes && (
          <li>
            <Status state="good">{words.provedDuties(without)}</Status>
          </li>
        )}
        {logs && (
          <li>
            <Status state="good">{words.provedLog}</Status>
          </li>
        )}
      </ul>
    </Card>
  )
}
