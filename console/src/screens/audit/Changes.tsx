import { useAddress } from '../../parts/search.ts'
import { RecordTable } from '../../parts/RecordTable.tsx'
import type { Column } from '../../parts/Table.tsx'
import type { Records } from '../../parts/useRecords.ts'
import type { AuditRow } from './api.ts'
import { words } from './words.ts'

interface ChangesProps {
  readonly list: Records<AuditRow>
  readonly isFiltered: boolean
  readonly columns: readonly Column<AuditRow>[]
}

/** The rows that fit the filters, as far as they are loaded, the latest first. */
export function Changes({ list, isFiltered, columns }: ChangesProps) {
  const [search] = useAddress()
  return (
    <RecordTable
      list={list}
      height={420}
      none={isFiltered ? words.emptyFiltered : words.empty}
      caption={words.table}
      columns={columns}
      idOf={({ sequence }) => String(sequence)}
      to={({ sequence }) => ({ to: '/audit', search: { ...search, row: String(sequence) } })}
    />
  )
}
