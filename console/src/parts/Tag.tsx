import type { ReactNode } from 'react'
import classes from './Tag.module.css'

interface TagProps {
  readonly look?: 'accent' | 'good' | 'warning' | 'bad'
  /** Shown when a pointer rests on it. */
  readonly title?: string
  readonly children: ReactNode
}

export function Tag({ look, title, children }: TagProps) {
  return (
    <span className={look ? `${classes.tag} ${classes[look]}` : classes.tag} title={title}>
      {children}
    </span>
  )
}
