import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { money, shortId } from '../../format.ts'
import { Card } from '../../parts/Card.tsx'
import { CopyButton } from '../../parts/CopyButton.tsx'
import { Tag } from '../../parts/Tag.tsx'
import type { Detail } from './row.ts'
import { words } from './request-words.ts'
import classes from './request.module.css'

/** What other cards show. */
const shownElsewhere = new Set(['routing_reasoning', 'guards'])

/** Ids, tags, the parts of a request, and whatever else its stages noted. */
export function Metadata({ request }: { readonly request: Detail }) {
  const { id, reference, parent, upstream, address, config_version: version, children, tags, metadata } = request
  const { names } = words
  const { trace_id: trace, trace_url: traceUrl } = request
  const notes = Object.entries(metadata).filter(([name, value]) => !shownElsewhere.has(name) && value !== null)
  return (
    <Card title={words.more}>
      <dl className={classes.pairs}>
        <Pair label={names.id}>
          <code>{id}</code>
        </Pair>
        <Copied label={names.reference} text={reference} />
        {parent !== null && (
          <Pair label={names.parent}>
            <Link to={`/logs/${parent}`}>{shortId(parent)}</Link>
          </Pair>
        )}
        <Copied label={names.trace} text={trace} to={traceUrl ?? undefined} />
        <Copied label={names.upstreamId} text={upstream?.id ?? null} />
        <Copied label={names.upstreamModel} text={upstream?.model ?? null} />
        {upstream?.stop != null && <Pair label={names.stop}>{upstream.stop}</Pair>}
        {address !== null && <Pair label={names.address}>{address}</Pair>}
        {version !== null && <Pair label={names.version}>{version}</Pair>}
        {children.length > 0 && (
          <Pair label={names.children}>
            {children.map((child) => (
              <Link key={child.id} to={`/logs/${child.id}`}>
                {words.part(child.type, money(child.cost))}
              </Link>
            ))}
          </Pair>
        )}
        {Object.keys(tags).length > 0 && (
          <Pair label={names.tags}>
            {Object.entries(tags).map(([name, value]) => (
              <Tag key={name}>{words.tag(name, value)}</Tag>
            ))}
          </Pair>
        )}
        {notes.map(([name, value]) => (
          <Pair key={name} label={name}>
            {typeof value === 'string' ? value : JSON.stringify(value)}
          </Pair>
        ))}
      </dl>
    </Card>
  )
}

function Pair({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  )
}

interface CopiedProps {
  readonly label: string
  readonly text: string | null
  /** Where another tool shows it. */
  readonly to?: string | undefined
}

function Copied({ label, text, to }: CopiedProps) {
  if (text === null) return null
  return (
    <Pair label={label}>
      {to === undefined ? (
        <code>{text}</code>
      ) : (
        <OutsideLink to={to}>
          <code>{text}</code>
        </OutsideLink>
      )}
      <CopyButton text={text} what={label} />
    </Pair>
  )
}

/** Where a link may lead: any other scheme could run a script here. */
const schemes = ['https:', 'http:']

/** A link to another site, in a tab of its own; an address that is none, or of another scheme, leads nowhere. */
function OutsideLink({ to, children }: { readonly to: string; readonly children: ReactNode }) {
  const url = URL.parse(to)
  if (url === null || !schemes.includes(url.protocol)) return children
  return (
    <a href={url.href} target="_blank" rel="noreferrer">
      {children}
    </a>
  )
}
