import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { RecordTable } from '../../parts/RecordTable.tsx'
import type { Column } from '../../parts/Table.tsx'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Button } from '../../parts/Button.tsx'
import { Failure } from '../../parts/Failure.tsx'
import { FilterBar } from '../../parts/FilterBar.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { TableTools } from '../../parts/TableTools.tsx'
import { useColumns } from '../../parts/useColumns.ts'
import { useRecords } from '../../parts/useRecords.ts'
import type { Records } from '../../parts/useRecords.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { auditList, members, verify } from './api.ts'
import type { AuditRow } from './api.ts'
import { CompareCheckpoints } from './CompareCheckpoints.tsx'
import { columns as allColumns } from './columns.tsx'
import { fieldsOf, useFilters } from './filters.ts'
import { OneRow } from './OneRow.tsx'
import { Verified } from './Verified.tsx'
import { words } from './words.ts'
import classes from './audit.module.css'

/** Who changed what, and whether the record of it is whole. */
export default function Audit() {
  const isAdmin = useIsAdmin()
  if (isAdmin) return <Trail />
  return (
    <Page title={words.title}>
      <Forbidden what={words.forbidden} />
    </Page>
  )
}

function Trail() {
  const [search] = useAddress()
  const filters = useFilters()
  const pages = auditList(filters)
  const list = useRecords(pages)
  const columns = useColumns('sluice-columns-audit', allColumns)
  const check = useMutation({ mutationFn: verify })
  const [compares, setCompares] = useState(false)
  const opened = oneOf(search, 'row')
  // The row that is open shows them better.
  const shown = opened === undefined ? columns.shown : columns.shown.filter(({ name }) => name !== 'changes')
  return (
    <Page
      title={words.title}
      actions={
        <>
          <Button onClick={() => setCompares(true)}>{words.compare}</Button>
          <Button icon="audit" busy={check.isPending} onClick={() => check.mutate(undefined)}>
            {words.verify}
          </Button>
        </>
      }
    >
      <div role="status">{check.data && <Verified verdict={check.data} />}</div>
      {check.error && <Failure error={check.error} onRetry={() => check.mutate(check.variables)} />}
      {compares && <CompareCheckpoints onCompare={check.mutateAsync} onClose={() => setCompares(false)} />}
      <FilterBar fields={fieldsOf(useQuery(members).data)}>
        <TableTools columns={columns} rows={list.rows ?? []} file="audit.csv" address={() => pages.address} />
      </FilterBar>
      <div className={classes.split} data-open={opened !== undefined}>
        <Changes list={list} isFiltered={Object.keys(filters).length > 0} columns={shown} />
        {opened !== undefined && <OneRow key={opened} sequence={opened} />}
      </div>
    </Page>
  )
}

interface ChangesProps {
  readonly list: Records<AuditRow>
  readonly isFiltered: boolean
  readonly columns: readonly Column<AuditRow>[]
}

/** The rows that fit the filters, as far as they are loaded, the latest first. */
function Changes({ list, isFiltered, columns }: ChangesProps) {
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
