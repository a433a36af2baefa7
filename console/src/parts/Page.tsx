import { useEffect, useRef } from 'react'
import type { ReactNode } from 'react'
import { shared } from '../words.ts'
import { notePlace } from './recent.ts'
import classes from './Page.module.css'

interface PageProps {
  /** The screen's name, or the record's: the heading, and the title of the document. */
  readonly title: string
  /** What the heading shows where it is more than the title. */
  readonly heading?: ReactNode
  /** Beside the heading: tags, a status. */
  readonly aside?: ReactNode
  /** At the right of the heading. */
  readonly actions?: ReactNode
  /** A part of the page takes the focus, instead of the heading. */
  readonly focusesItself?: boolean
  readonly children: ReactNode
}

/** A screen: its heading, which gets the focus after a navigation, and what is below. */
export function Page({ title, heading = title, aside, actions, focusesItself = false, children }: PageProps) {
  const element = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · ${shared.product}`
    notePlace(title)
  }, [title])
  useEffect(() => {
    // The first page that opens leaves the focus where a new document has it.
    if (arrived && !focusesItself) element.current?.focus({ preventScroll: true })
    arrived = true
    // It is about the moment of the arrival alone.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [])
  return (
    <>
      <div className={classes.head}>
        <h1 ref={element} tabIndex={-1}>
          {heading}
        </h1>
        {aside}
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </div>
      {children}
    </>
  )
}

/** Whether a page has been shown in this document. */
let arrived = false
