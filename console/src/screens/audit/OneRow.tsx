import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { ReactNode } from 'react'
import { useAddress } from '../../parts/search.ts'
import { count } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Difference } from '../../parts/Difference.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Status } from '../../parts/Status.tsx'
import { useEscape } from '../../parts/useEscape.ts'
import { auditRow } from './api.ts'
import type { AuditRow } from './api.ts'
import { actorOf, targetOf } from './columns.tsx'
import { words } from './words.ts'
import classes from './audit.module.css'

/** What one row says: who, what, and each field before and after. */
export function OneRow({ sequence }: { readonly sequence: string }) {
  const [, change] = useAddress()
  const query = useQuery(auditRow(sequence))
  const name = Number.isInteger(Number(sequence)) ? count(Number(sequence)) : sequence
  const close = useCallback(() => change({ row: undefined }, { push: true }), [change])
  useEscape(close)
  return (
    <Card
      title={words.row(name)}
      className={classes.row}
      actions={<Button look="quiet" small icon="close" aria-label={words.close} onClick={close} />}
    >
      <Loaded query={query} height={320}>
        {(row) => (row ? <Content row={row} /> : <Empty text={words.noRow(name)} />)}
      </Loaded>
    </Card>
  )
}

function Content({ row }: { readonly row: AuditRow }) {
  const { at, action, outcome, address, request_id: request, changes = {}, details = {}, previous, hash } = row
  const target = targetOf(row)
  return (
    <div className={classes.content}>
      <dl className={classes.facts}>
        <Fact name={words.columns.action}>
          <code>{action}</code>
          <Status state={outcome === 'refused' ? 'warning' : 'good'}>{words.outcomes[outcome] ?? outcome}</Status>
        </Fact>
        {at !== undefined && (
          <Fact name={words.absolute}>
            <Moment at={at} exact />
            <span className={classes.faint}>
              <Moment at={at} />
            </span>
          </Fact>
        )}
        <Fact name={words.columns.actor}>{actorOf(row)}</Fact>
        {target !== '' && <Fact name={words.columns.target}>{target}</Fact>}
        {address && <Fact name={words.columns.address}>{address}</Fact>}
        {request && (
          <Fact name={words.columns.request}>
            <Copied text={request} what="request id" />
          </Fact>
        )}
      </dl>
      {Object.keys(changes).length > 0 ? (
        <Difference changes={changes} />
      ) : (
        <p className={classes.faint}>{outcome === 'refused' ? words.noChangesRefused : words.noChanges}</p>
      )}
      {Object.keys(details).length > 0 && (
        <>
          <h3>{words.details}</h3>
          <pre className={classes.details}>{JSON.stringify(details, null, 2)}</pre>
        </>
      )}
      <dl className={classes.facts}>
        <Fact name={words.columns.hash}>
          <Copied text={hash} what="hash" />
        </Fact>
        <Fact name={words.previous}>
          <Copied text={previous} what="previous hash" />
        </Fact>
      </dl>
    </div>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Copied({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <>
      <code className={classes.long} title={text}>
        {text}
      </code>
      <CopyButton text={text} what={what} />
    </>
  )
}
