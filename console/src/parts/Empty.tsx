import type { ReactNode } from 'react'
import classes from './Notice.module.css'

/** What would be here and why there is nothing, with the one thing to do about it. */
export function Empty({ text, children }: { readonly text: string; readonly children?: ReactNode }) {
  return (
    <div className={classes.notice}>
      <p>{text}</p>
      {children}
    </div>
  )
}
