import { useEffect } from 'react'
import type { ReactNode } from 'react'
import { shared } from '../words.ts'
import { Mark } from './Mark.tsx'
import classes from './Door.module.css'

interface DoorProps {
  readonly title: string
  readonly text?: string | undefined
  readonly children?: ReactNode
}

/** The page of somebody who is not signed in yet: one card, without the frame. */
export function Door({ title, text, children }: DoorProps) {
  useEffect(() => {
    document.title = `${title} · ${shared.product}`
  }, [title])
  return (
    <main className={classes.door}>
      <div className={classes.card}>
        <div className={classes.mark}>
          <Mark />
          {shared.product}
        </div>
        <h1>{title}</h1>
        {text !== undefined && <p className={classes.text}>{text}</p>}
        {children}
      </div>
    </main>
  )
}

/** The class of a form inside. */
export const doorForm = classes.form
