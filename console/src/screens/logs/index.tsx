import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { addressOf } from '../../api/ask.ts'
import { useAddress } from '../../parts/search.ts'
import { FilterBar, leaving } from '../../parts/FilterBar.tsx'
import { Page } from '../../parts/Page.tsx'
import { TableTools } from '../../parts/TableTools.tsx'
import { useColumns } from '../../parts/useColumns.ts'
import { useRange } from '../../parts/useRange.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { suggestions, usedTypes } from './api.ts'
import { columns as allColumns } from './columns.tsx'
import type { Entry } from './columns.tsx'
import { fieldsOf, filtersIn, isFiltered } from './filters.ts'
import { Outcomes } from './Outcomes.tsx'
import { Requests } from './Requests.tsx'
import { words } from './words.ts'

/** What happened to requests: all state is in the address, so that a link shows the same. */
export default function Logs() {
  const [search] = useAddress()
  const range = useRange()
  const isAdmin = useIsAdmin()
  const columns = useColumns('sluice-columns-logs', allColumns)
  const [rows, setRows] = useState<readonly Entry[]>([])
  const { data: types = [] } = useQuery(usedTypes)
  const keys = useQuery(suggestions('/api/api-keys?limit=200', true)).data
  const models = useQuery(suggestions('/api/catalog/models', true)).data
  const providers = useQuery(suggestions('/api/config/providers?limit=200', isAdmin)).data
  const members = useQuery(suggestions('/api/team/members?limit=200', isAdmin)).data
  const fields = fieldsOf({ types, keys, models, providers, members }).filter(
    // A link of an admin may have it, and what filters is shown.
    ({ name }) => isAdmin || name !== 'member' || [name, leaving(name)].some((one) => one in search),
  )
  const filters = filtersIn(search)
  return (
    <Page title={words.title}>
      <FilterBar fields={fields}>
        <TableTools
          columns={columns}
          rows={rows}
          file="requests.csv"
          address={() => addressOf('/api/logs', { ...filters, ...range.bounds(), limit: 200 })}
        />
      </FilterBar>
      <Outcomes filters={filters} />
      <Requests
        key={`${range.key} ${JSON.stringify(filters)}`}
        filters={filters}
        isFiltered={isFiltered(search)}
        columns={columns.shown}
        link={({ id }) => ({ to: `/logs/${id}`, search })}
        onRows={setRows}
      />
    </Page>
  )
}
