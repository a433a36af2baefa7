import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import type { ReactNode } from 'react'
import { bytes } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Tabs, useTab } from '../../parts/Tabs.tsx'
import { quoted } from '../../parts/curl.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { shared } from '../../words.ts'
import { conversationOf, jsonOf } from './conversation.ts'
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

/** Characters that are shown at once. */
const most = 65_536

/** Text of others as it is, line breaks included. What is beyond 64 KB is shown by a button. */
function LongText({ text, mono = false }: { readonly text: string; readonly mono?: boolean }) {
  const [whole, setWhole] = useState(false)
  const isCut = !whole && text.length > most
  return (
    <>
      <div className={classes.text} data-mono={mono || undefined}>
        {isCut ? text.slice(0, most) : text}
      </div>
      {isCut && (
        <Button small onClick={() => setWhole(true)}>
          {shared.showAll(bytes(new Blob([text]).size))}
        </Button>
      )}
    </>
  )
}

/** Where requests of the gateway's own pipelines are sent that have a body of JSON, by the name of the pipeline. */
const paths: Readonly<Record<string, string>> = {
  'chat-completions': '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  decisions: '/v1/decisions',
  mapeval: '/v1/mapeval',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  compact: '/v1/responses/compact',
  'count-tokens': '/v1/messages/count_tokens',
  'input-tokens': '/v1/responses/input_tokens',
}

/** The request as a command of a POSIX shell; undefined where its whole body is not known. */
function curlOf({ capture, metadata: { pipeline } }: Detail, origin: string): string | undefined {
  const path = typeof pipeline === 'string' ? paths[pipeline] : undefined
  // Of one that guards did not let pass, the size is known alone.
  if (path === undefined || !capture?.request || capture.truncated || !jsonOf(capture.request)) return undefined
  return [
    `curl ${origin}${path}`,
    '-H "authorization: Bearer $SLUICE_API_KEY"',
    "-H 'content-type: application/json'",
    `-d ${quoted(capture.request)}`,
  ].join(' \\\n  ')
}
