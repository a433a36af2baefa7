import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useParams, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { ask } from '../../api/ask.ts'
import { useAddress } from '../../parts/search.ts'
import type { Search } from '../../parts/search.ts'
import { shortId } from '../../format.ts'
import { ButtonLink } from '../../parts/Button.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Page } from '../../parts/Page.tsx'
import { RequestSteps } from '../../parts/RequestSteps.tsx'
import { Skeleton } from '../../parts/Skeleton.tsx'
import { Status } from '../../parts/Status.tsx'
import { Tag } from '../../parts/Tag.tsx'
import { useEscape } from '../../parts/useEscape.ts'
import { holdLive } from '../../parts/useLive.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { filtersIn } from './filters.ts'
import type { Detail } from './row.ts'
import { words } from './request-words.ts'
import { Sections } from './Sections.tsx'
import { states } from './states.ts'
import { words as shared } from './words.ts'
import classes from './request.module.css'

/** What happened to one request. */
export default function Request() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const [search] = useAddress()
  const { data, error, refetch } = useQuery(oneRequest(id))
  const filters = filtersIn(search)
  const { history, navigate } = useRouter()
  const close = useCallback(() => {
    if (history.canGoBack()) history.back()
    else void navigate({ to: '/logs', search: listOf(search) })
  }, [history, navigate, search])
  useEscape(close)
  // An open row stays as it is: live data wait until it is left.
  useEffect(holdLive, [])
  return (
    <>
      <nav className={classes.path} aria-label={words.path}>
        <Link to="/logs" search={listOf(search)}>
          {words.logs}
        </Link>
        {data && <span>{data.type}</span>}
        {data && (
          <RequestSteps key={id} row={data} filters={filters} linkTo={(other) => ({ to: `/logs/${other}`, search })} />
        )}
      </nav>
      <Page
        key={id}
        title={words.request(shortId(id))}
        heading={<Heading id={id} />}
        aside={data && <Aside request={data} />}
        actions={data && <Actions request={data} />}
      >
        {data ? (
          <Sections request={data} />
        ) : error ? (
          <Failure error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeleton height={480} />
        )}
      </Page>
    </>
  )
}

/** The protocols in which the playground asks again. */
const ofPlayground = new Set(['chat', 'messages', 'responses'])

/** The address of the list without what belongs to one request. */
const listOf = ({ tab: _tab, ...list }: Search): Search => list

/** The id as it is shown, and whole for those who listen. */
function Heading({ id }: { readonly id: string }) {
  return (
    <>
      {words.heading} <span className="visually-hidden">{id}</span>
      <code className={classes.id} aria-hidden="true" title={id}>
        {shortId(id)}
      </code>
    </>
  )
}

function Aside({ request }: { readonly request: Detail }) {
  const { id, at, status, result, protocol, stream, routing, tries } = request
  return (
    <>
      <CopyButton text={id} what={words.requestId} />
      <Status state={states[result]}>{words.statusOf(status, shared.results[result])}</Status>
      {protocol !== null && <Tag>{protocol}</Tag>}
      {stream && <Tag>{words.streamedTag}</Tag>}
      {routing?.tier && <Tag look="accent">{words.routed(routing.mode ?? '', routing.tier)}</Tag>}
      {tries.length > 1 && <Tag look="warning">{words.tries(tries.length)}</Tag>}
      <span className={classes.when}>
        <Moment at={at} exact /> <Moment at={at} />
      </span>
    </>
  )
}

function Actions({ request }: { readonly request: Detail }) {
  const isAdmin = useIsAdmin()
  const { id, requested, protocol, metadata } = request
  const { pipeline } = metadata
  return (
    <>
      {requested !== null && protocol !== null && ofPlayground.has(protocol) && (
        <ButtonLink to="/playground" search={{ model: requested, request: id }}>
          {words.openInPlayground}
        </ButtonLink>
      )}
      {isAdmin && typeof pipeline === 'string' && (
        <ButtonLink to={`/pipelines/${encodeURIComponent(pipeline)}`} search={{ request: id }}>
          {words.showOnPipeline}
        </ButtonLink>
      )}
    </>
  )
}

const oneRequest = (id: string) =>
  queryOptions({
    queryKey: ['logs', 'request', id],
    queryFn: ({ signal }) => ask<Detail>('GET', `/api/logs/${encodeURIComponent(id)}`, { signal }),
  })
