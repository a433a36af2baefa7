import type { ReactNode } from 'react'
import type { Query } from '../api/ask.ts'
import { FilterBar } from './FilterBar.tsx'
import type { FilterField } from './FilterBar.tsx'
import { Page } from './Page.tsx'
import type { pagesOf } from './pages.ts'
import { RecordTable } from './RecordTable.tsx'
import { SearchField } from './SearchField.tsx'
import type { TableProps } from './Table.tsx'
import { TableTools } from './TableTools.tsx'
import { useColumns } from './useColumns.ts'
import { useListAddress } from './useListAddress.ts'
import { useRecords } from './useRecords.ts'

interface ListPageProps<T> extends Pick<TableProps<T>, 'columns' | 'to' | 'choice'> {
  /** Names the downloaded file, and the place where the choice of columns is kept. */
  readonly name: string
  readonly words: {
    readonly title: string
    /** Names the field of the search; absent: nothing is searched. */
    readonly search?: string | undefined
    /** What is said where there is no record. */
    readonly empty: string
    /** What is said where no record fits the filters. */
    readonly emptyFiltered: string
  }
  readonly actions?: ReactNode
  readonly fields: readonly FilterField[]
  /** The words of the route for the order; the first is the usual one. */
  readonly sorts: readonly [string, ...string[]]
  readonly list: (query: Query) => ReturnType<typeof pagesOf<T>>
  readonly idOf: (row: T, rows: readonly T[]) => string
  /** Above the table, where it has rows. */
  readonly children?: (rows: readonly T[]) => ReactNode
}

/** A list of records as a screen: its filters, its search, its columns, its rows as CSV, and the rows. */
export function ListPage<T>({ name, words, actions, fields, sorts, ...table }: ListPageProps<T>) {
  const { query, isFiltered, order } = useListAddress(fields, sorts)
  const pages = table.list(query)
  const list = useRecords(pages)
  const columns = useColumns(`sluice-columns-${name}`, table.columns)
  const { rows = [] } = list
  return (
    <Page title={words.title} actions={actions}>
      <FilterBar fields={fields}>
        {words.search !== undefined && <SearchField label={words.search} />}
        <TableTools columns={columns} rows={rows} file={`${name}.csv`} address={() => pages.address} />
      </FilterBar>
      <RecordTable
        {...table}
        list={list}
        height={320}
        none={isFiltered ? words.emptyFiltered : words.empty}
        caption={words.title}
        columns={columns.shown}
        idOf={(row) => table.idOf(row, rows)}
        order={order}
      >
        {table.children?.(rows)}
      </RecordTable>
    </Page>
  )
}
