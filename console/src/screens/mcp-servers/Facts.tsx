import { useQuery } from '@tanstack/react-query'
import { count, duration } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { status } from './api.ts'
import type { Status } from './api.ts'
import { State } from './State.tsx'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

/** How a server is, as far as this process of the gateway knows. */
export function Facts({ name }: { readonly name: string }) {
  return (
    <Card title={words.state}>
      <Loaded query={useQuery(status(name))} height={160}>
        {(known) => <List known={known} />}
      </Loaded>
    </Card>
  )
}

function List({ known }: { readonly known: Status }) {
  const { state, since, server, protocol_version: version, latency_ms: latency, sessions, error } = known
  return (
    <dl className={classes.facts}>
      <dt>{words.state}</dt>
      <dd>
        <State state={state} />
      </dd>
      {error && (
        <>
          <dt>{words.problem}</dt>
          <dd className={classes.bad}>{error.message}</dd>
        </>
      )}
      {since !== null && (
        <>
          <dt>{words.since}</dt>
          <dd>
            <Moment at={since} />
          </dd>
        </>
      )}
      {server && (
        <>
          <dt>{words.server}</dt>
          <dd>{words.serverNamed(server.name ?? '', server.version ?? '')}</dd>
        </>
      )}
      {version !== null && (
        <>
          <dt>{words.protocol}</dt>
          <dd>{version}</dd>
        </>
      )}
      {latency !== null && (
        <>
          <dt>{words.latency}</dt>
          <dd>{duration(latency)}</dd>
        </>
      )}
      <dt>{words.sessions}</dt>
      <dd>{count(sessions)}</dd>
    </dl>
  )
}
