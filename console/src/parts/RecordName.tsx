import type { ReactNode } from 'react'
import { shared } from '../words.ts'
import { Tag } from './Tag.tsx'
import classes from './RecordName.module.css'

interface RecordNameProps {
  readonly name: string
  readonly source?: 'file' | 'database'
  /** Behind the name. */
  readonly children?: ReactNode
}

/** The name of a record in a list, as far as there is room, and whether the file declares it. */
export function RecordName({ name, source, children }: RecordNameProps) {
  return (
    <span className={classes.record}>
      <span className={classes.name}>{name}</span>
      {children}
      {source === 'file' && <Tag>{shared.inFile}</Tag>}
    </span>
  )
}
