import { addressOf } from '../api/ask.ts'
import type { Query } from '../api/ask.ts'
import { FilterBar } from './FilterBar.tsx'
import type { FilterField } from './FilterBar.tsx'
import { SearchField } from './SearchField.tsx'
import { TableTools } from './TableTools.tsx'
import type { Columns } from './useColumns.ts'

interface ListToolsProps<Row> {
  readonly fields: readonly FilterField[]
  /** Names the field of the search. */
  readonly search: string
  readonly columns: Columns<Row>
  /** Those that are loaded. */
  readonly rows: readonly Row[] | undefined
  /** Name of the downloaded file. */
  readonly file: string
  /** The route of the list, and what it is asked. */
  readonly path: string
  readonly query: Query
}

/** Above a list of records: its filters, its search, its columns, and its rows as CSV. */
export function ListTools<Row>({ fields, search, columns, rows = [], file, path, query }: ListToolsProps<Row>) {
  return (
    <FilterBar fields={fields}>
      <SearchField label={search} />
      <TableTools columns={columns} rows={rows} file={file} address={() => addressOf(path, { ...query, limit: 200 })} />
    </FilterBar>
  )
}
