import { useId } from 'react'
import type { ReactNode } from 'react'
import classes from './playground.module.css'

interface FieldProps {
  readonly label: string
  readonly hint?: string
  readonly className?: string | undefined
  readonly children: (id: string) => ReactNode
}

/** A labelled control. */
export function Field({ label, hint, className, children }: FieldProps) {
  const id = useId()
  return (
    <div className={[classes.field, className].join(' ')}>
      <label htmlFor={id} title={hint}>
        {label}
      </label>
      {children(id)}
    </div>
  )
}
