import { useNavigate } from '@tanstack/react-router'
import type { PluginPage } from '../../api/pages.ts'
import { Button } from '../../parts/Button.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { useZone } from '../../parts/zone.ts'
import { idOf, rowsOf } from './api.ts'
import { columnsOf } from './columns.tsx'
import { filtersOf, isSearched, sortsOf, withMoments } from './filters.ts'
import { words } from './words.ts'

/** The rows of a page, with the filters, the search and the order that its list has. */
export function RecordList({ page }: { readonly page: PluginPage }) {
  const { name, title, key, routes } = page
  const navigate = useNavigate()
  const zone = useZone()
  return (
    <ListPage
      name={`pages-${name}`}
      words={{ ...words, title, search: isSearched(page) ? words.search : undefined }}
      actions={
        routes.create !== undefined && (
          <Button
            look="primary"
            icon="plus"
            onClick={() => void navigate({ to: `/pages/${name}/-/new`, search: true })}
          >
            {words.new}
          </Button>
        )
      }
      fields={filtersOf(page)}
      sorts={sortsOf(page)}
      list={(query) => rowsOf(page, withMoments(page, query, zone))}
      columns={columnsOf(page)}
      idOf={(row, rows) => (key === null ? String(rows.indexOf(row)) : idOf(page, row))}
      to={(row) => (key === null ? undefined : { to: `/pages/${name}/${encodeURIComponent(idOf(page, row))}` })}
    />
  )
}
