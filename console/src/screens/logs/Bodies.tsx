import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { ReactNode } from 'react'
import { bytes } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { LongText } from '../../parts/LongText.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { useIsAdmin } from '../../parts/useUser.ts'
import { conversationOf, jsonOf } from './conversation.ts'
import { curlOf } from './curl.ts'
import type { Capture, Detail } from './row.ts'
import { words } from './request-words.ts'
import classes from './request.module.css'

const names = ['conversation', 'json', 'headers'] as const
const tabs = names.map((value) => ({ value, label: words.tabs[value] }))

/** What was asked and answered, where it is kept: as a conversation, as it was sent, and its headers. */
export function Bodies({ request }: { readonly request: Detail }) {
  const { capture, headers } = request
  const [tab, choose] = useTab(names)
  const curl = curlOf(request, location.origin)
  return (
    <Card
      title={words.bodies}
      note={capture && noteOf(capture)}
      actions={curl !== undefined && <CopyButton text={curl} what={words.asCurl} named />}
    >
      <Tabs label={words.bodyViews} tabs={tabs} value={tab} onChange={choose}>
        {tab === 'headers' ? (
          <Headers headers={headers} />
        ) : !capture ? (
          <NotKept text={words.notKept} />
        ) : tab === 'json' ? (
          <>
            <Body label={words.requestBody} text={capture.request} />
            <Body label={words.responseBody} text={capture.response} />
          </>
        ) : (
          <Conversation capture={capture} />
        )}
      </Tabs>
    </Card>
  )
}

function noteOf({ request, response, truncated }: Capture): string {
  const size = bytes(new Blob([request ?? '', response ?? '']).size)
  return truncated ? words.cut(size) : words.whole(size)
}

function NotKept({ text }: { readonly text: string }) {
  const isAdmin = useIsAdmin()
  return (
    <p className={classes.notKept}>
      {text} {isAdmin && <Link to="/settings/logging">{words.toSettings}</Link>}
    </p>
  )
}

function Conversation({ capture: { request, response } }: { readonly capture: Capture }) {
  const turns = useMemo(() => conversationOf(request, response), [request, response])
  if (turns.length === 0) return <p className={classes.faint}>{words.noConversation}</p>
  return (
    <dl className={classes.turns}>
      {turns.map(({ role, text }, at) => (
        <div key={at}>
          <dt>{role}</dt>
          <dd>
            <LongText text={text} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** A body as JSON with line breaks, or as it was where it is none. */
function Body({ label, text }: { readonly label: string; readonly text: string | null }) {
  const json = useMemo(() => jsonOf(text), [text])
  return (
    <section className={classes.body} aria-label={label}>
      <h3>
        {label} {text !== null && <CopyButton text={text} what={label} />}
      </h3>
      {text === null ? (
        <p className={classes.faint}>{words.noBody}</p>
      ) : (
        <LongText mono text={json === undefined ? text : JSON.stringify(json, null, 2)} />
      )}
    </section>
  )
}

function Headers({ headers }: { readonly headers: Detail['headers'] }): ReactNode {
  const all = Object.entries(headers)
  if (all.length === 0) return <NotKept text={words.noHeaders} />
  return (
    <table className={classes.table}>
      <caption className="visually-hidden">{words.tabs.headers}</caption>
      <thead>
        <tr>
          <th scope="col">{words.header}</th>
          <th scope="col">{words.value}</th>
        </tr>
      </thead>
      <tbody>
        {all.map(([name, value]) => (
          <tr key={name}>
            <td>
              <code>{name}</code>
            </td>
            <td className={classes.wrapped}>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
