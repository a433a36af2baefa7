import type { ReactNode } from 'react'
import classes from './Columns.module.css'

interface ColumnsProps {
  /** A form, or what is as wide as one. */
  readonly children: ReactNode
  /** What else is known, narrower: beside it, or below it on narrow pages. */
  readonly side?: ReactNode
}

/** A form, and beside it what else is known of its record. */
export function Columns({ children, side }: ColumnsProps) {
  if (side === undefined) return <div className={classes.alone}>{children}</div>
  return (
    <div className={classes.columns}>
      <div>{children}</div>
      <div className={classes.side}>{side}</div>
    </div>
  )
}
