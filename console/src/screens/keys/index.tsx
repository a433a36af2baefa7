import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Chosen } from '../../parts/Chosen.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordTable } from '../../parts/RecordTable.tsx'
import { ListTools } from '../../parts/ListTools.tsx'
import { useBuckets } from '../../parts/useBuckets.ts'
import { useColumns } from '../../parts/useColumns.ts'
import { useListAddress } from '../../parts/useListAddress.ts'
import { useNames } from '../../parts/useNames.ts'
import { useRecords } from '../../parts/useRecords.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { keyList, mayMakeKeys } from './api.ts'
import { useSwitchKeys } from './change.ts'
import { columnsWith } from './columns.tsx'
import { words } from './words.ts'

/** Who may ask, for what, and how much of each budget is left. */
export default function Keys() {
  const isAdmin = useIsAdmin()
  const mayMake = useQuery(mayMakeKeys).data === true || isAdmin
  const fields = useFilters()
  const { query, isFiltered, order } = useListAddress(fields, ['-created_at', 'name', 'last_used_at', 'spent'])
  const navigate = useNavigate()
  const list = useRecords(keyList(query))
  const { ofKey } = useBuckets()
  const columns = useColumns('sluice-columns-keys', columnsWith(ofKey))
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const switchKeys = useSwitchKeys()
  const keys = list.rows?.filter(({ id }) => chosen.has(id)) ?? []
  const add = mayMake && (
    <Button look="primary" icon="plus" onClick={() => void navigate({ to: '/keys/new' })}>
      {words.add}
    </Button>
  )
  return (
    <Page title={words.title} actions={add}>
      <ListTools
        fields={fields}
        search={words.search}
        columns={columns}
        rows={list.rows}
        file="keys.csv"
        path="/api/api-keys"
        query={query}
      />
      <RecordTable
        list={list}
        height={320}
        none={isFiltered ? words.emptyFiltered : isAdmin ? words.empty : words.emptyOwn}
        caption={words.title}
        columns={columns.shown}
        idOf={({ id }) => id}
        to={({ id }) => ({ to: `/keys/${encodeURIComponent(id)}` })}
        order={order}
        choice={
          isAdmin
            ? { chosen, choose, labelOf: ({ name, source }) => (source === 'file' ? undefined : words.choose(name)) }
            : undefined
        }
      >
        <Chosen
          rows={keys}
          label={words.chosen(keys.length)}
          isOn={({ disabled }) => !disabled}
          turn={(on) => switchKeys(keys, !on)}
          onDone={() => choose(new Set())}
        />
      </RecordTable>
    </Page>
  )
}

/** What the list can be filtered by. */
function useFilters(): readonly FilterField[] {
  const isAdmin = useIsAdmin()
  const members = useNames('member')
  const models = useNames('model')
  const { filters } = words
  return [
    { name: 'state', label: filters.state, values: valuesOf(words.statesShort) },
    ...(isAdmin
      ? [
          {
            name: 'owner',
            label: filters.owner,
            values: members,
          },
        ]
      : []),
    {
      name: 'model',
      label: filters.model,
      values: models,
      typed: true,
    },
    { name: 'tag', label: filters.tag, typed: true, example: 'team:search' },
    { name: 'source', label: filters.source, values: valuesOf(words.sources) },
  ]
}
