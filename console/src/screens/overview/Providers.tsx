import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { Section } from '../../api/answers.ts'
import { ask } from '../../api/ask.ts'
import { breakers, circuitOf } from '../../api/attention.ts'
import type { Breaker } from '../../api/attention.ts'
import { ahead, count } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Status } from '../../parts/Status.tsx'
import { useNow } from '../../parts/useNow.ts'
import { words } from './words.ts'
import classes from './overview.module.css'

/** The span that a circuit looks back on, such as `30s`. */
const breakerWindow = queryOptions({
  queryKey: ['settings', 'resilience', 'breaker'],
  queryFn: async ({ signal }) =>
    (await ask<Section<'resilience'>>('GET', '/api/config/server/resilience', { signal })).values.breaker.window,
  staleTime: 60_000,
})

/** How many circuits are shown. */
const most = 8

const order = ['open', 'half_open', 'closed']

/** The circuit of each provider and model that was asked since the start, the open ones first. For admins. */
export function Providers() {
  const query = useQuery(breakers)
  const span = useQuery(breakerWindow).data
  return (
    <Card title={words.providers} actions={span && <span className={classes.faint}>{words.lastSpan(span)}</span>}>
      <Loaded query={query} height={100}>
        {(all) => (all.length === 0 ? <Empty text={words.noProviders} /> : <Circuits all={all} />)}
      </Loaded>
    </Card>
  )
}

function Circuits({ all }: { readonly all: readonly Breaker[] }) {
  const worst = all.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state))
  return (
    <>
      <ul className={classes.circuits}>
        {worst.slice(0, most).map((breaker) => (
          <Circuit key={`${breaker.provider} ${breaker.model}`} {...breaker} />
        ))}
      </ul>
      {all.length > most && <Link to="/configuration">{words.allCircuits(count(all.length))}</Link>}
    </>
  )
}

const states = { closed: 'good', open: 'warning', half_open: 'warning' } as const

function Circuit({ provider, model, state, failures, requests, retry_at: retryAt }: Breaker) {
  const asked = requests === 0 ? words.notAsked : words.failures(count(failures), count(requests))
  return (
    <li>
      <Link
        to={`/providers/${encodeURIComponent(provider)}`}
        className={classes.name}
        title={circuitOf({ provider, model })}
      >
        {provider} {model !== null && <span className={classes.faint}>{model}</span>}
      </Link>
      <Status state={states[state]}>{words.breaker[state]}</Status>
      <span className={classes.faint}>{state === 'closed' ? asked : <Probe at={retryAt} />}</span>
    </li>
  )
}

function Probe({ at }: { readonly at: string | null }) {
  const now = useNow()
  return at !== null && Date.parse(at) > now ? words.probe(ahead(at, now)) : words.probeNext
}
