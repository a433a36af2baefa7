import type { ReactNode } from 'react'
import { Status } from '../parts/Status.tsx'
import classes from './Attention.module.css'

interface AttentionLineProps {
  /** `off`: nothing is wrong, there only is something to do. */
  readonly state: 'off' | 'warning' | 'bad'
  readonly title: string
  readonly children: ReactNode
  /** Buttons to the place, or to what helps. */
  readonly actions?: ReactNode
}

/** One thing that needs somebody, in a line. */
export function AttentionLine({ state, title, children, actions }: AttentionLineProps) {
  return (
    <div className={classes.line} data-state={state} role="status">
      <Status state={state}>
        <span className={classes.title}>{title}</span>
      </Status>
      <span className={classes.text}>{children}</span>
      {actions !== undefined && <span className={classes.actions}>{actions}</span>}
    </div>
  )
}
