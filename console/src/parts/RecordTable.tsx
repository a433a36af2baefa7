import type { ReactNode } from 'react'
import { Card } from './Card.tsx'
import { Empty } from './Empty.tsx'
import { Loaded } from './Loaded.tsx'
import { Table } from './Table.tsx'
import type { TableProps } from './Table.tsx'
import type { Records } from './useRecords.ts'

interface RecordTableProps<T> extends Omit<TableProps<T>, 'rows' | 'more'> {
  readonly list: Records<T>
  /** Of the skeleton, in pixels. */
  readonly height: number
  /** What is said where there is no record. */
  readonly none: string
  /** Above the table, where it has rows. */
  readonly children?: ReactNode
}

/** The records of a list as a table; before, its skeleton, or why there is none. */
export function RecordTable<T>({ list, height, none, children, ...table }: RecordTableProps<T>) {
  const { rows: data, error, refetch, more } = list
  return (
    <Loaded query={{ data, error, refetch }} height={height}>
      {(rows) => (
        <Card>
          {rows.length === 0 ? (
            <Empty text={none} />
          ) : (
            <>
              {children}
              <Table {...table} rows={rows} more={more} />
            </>
          )}
        </Card>
      )}
    </Loaded>
  )
}
