import { useId } from 'react'
import type { ReactNode } from 'react'
import classes from './Card.module.css'

interface CardProps {
  /** Its heading, which also names it as a region. */
  readonly title?: string
  /** Names the region where its heading does not. */
  readonly label?: string
  /** Beside the heading, fainter. */
  readonly note?: ReactNode
  /** At the right of the heading. */
  readonly actions?: ReactNode
  readonly className?: string | undefined
  readonly children?: ReactNode
}

export function Card({ title, label, note, actions, className, children }: CardProps) {
  const id = useId()
  return (
    <section
      className={[classes.card, className].join(' ')}
      aria-label={label}
      aria-labelledby={title === undefined || label !== undefined ? undefined : id}
    >
      {title !== undefined && (
        <div className={classes.head}>
          <h2 id={id}>{title}</h2>
          {note !== undefined && <span className={classes.note}>{note}</span>}
          {actions !== undefined && <div className={classes.actions}>{actions}</div>}
        </div>
      )}
      {children}
    </section>
  )
}
