import { useNavigate } from '@tanstack/react-router'
import { addressOf } from '../../api/ask.ts'
import type { PluginPage } from '../../api/pages.ts'
import { Button } from '../../parts/Button.tsx'
import { FilterBar } from '../../parts/FilterBar.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordTable } from '../../parts/RecordTable.tsx'
import { SearchField } from '../../parts/SearchField.tsx'
import { TableTools } from '../../parts/TableTools.tsx'
import { useColumns } from '../../parts/useColumns.ts'
import { useListAddress } from '../../parts/useListAddress.ts'
import { useRecords } from '../../parts/useRecords.ts'
import { useZone } from '../../parts/zone.ts'
import { idOf, pathOf, rowsOf } from './api.ts'
import type { Row } from './api.ts'
import { columnsOf } from './columns.tsx'
import { filtersOf, isSearched, sortsOf, withMoments } from './filters.ts'
import { words } from './words.ts'

/** The rows of a page, with the filters, the search and the order that its list has. */
export function RecordList({ page }: { readonly page: PluginPage }) {
  const { name, title, key, routes } = page
  const navigate = useNavigate()
  const fields = filtersOf(page)
  const { query: asked, isFiltered, order } = useListAddress(fields, sortsOf(page))
  const query = withMoments(page, asked, useZone())
  const list = useRecords(rowsOf(page, query))
  const columns = useColumns(`sluice-columns-pages-${name}`, columnsOf(page))
  const add = routes.create !== undefined && (
    <Button look="primary" icon="plus" onClick={() => void navigate({ to: `/pages/${name}/-/new`, search: true })}>
      {words.new}
    </Button>
  )
  const rows = list.rows ?? []
  const placeOf = (row: Row) => (key === null ? String(rows.indexOf(row)) : idOf(page, row))
  return (
    <Page title={title} actions={add}>
      <FilterBar fields={fields}>
        {isSearched(page) && <SearchField label={words.search} />}
        <TableTools
          columns={columns}
          rows={rows}
          file={`${name}.csv`}
          address={() => addressOf(pathOf(page, 'list'), { ...query, limit: 200 })}
        />
      </FilterBar>
      <RecordTable
        list={list}
        height={320}
        none={isFiltered ? words.emptyFiltered : words.empty}
        caption={title}
        columns={columns.shown}
        idOf={placeOf}
        to={(row) => (key === null ? undefined : { to: `/pages/${name}/${encodeURIComponent(idOf(page, row))}` })}
        order={order}
      />
    </Page>
  )
}
