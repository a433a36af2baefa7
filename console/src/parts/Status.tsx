import type { ReactNode } from 'react'
import { Icon } from './Icon.tsx'
import classes from './Status.module.css'

export type State = 'good' | 'warning' | 'bad' | 'off'

/** How something is: a shape and a word in the colour of the state, so that nobody has to see the colour. */
export function Status({ state, children }: { readonly state: State; readonly children: ReactNode }) {
  return (
    <span className={`${classes.status} ${classes[state]}`}>
      <Icon name={state} size={13} />
      {children}
    </span>
  )
}
