import { useQuery } from '@tanstack/react-query'
import { useAddress } from '../../parts/search.ts'
import { providerList, providerTypes } from '../../catalog/providers.ts'
import type { Provider } from '../../catalog/providers.ts'
import { count } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { asked } from '../../parts/CellMenu.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordName } from '../../parts/RecordName.tsx'
import { RecordTable } from '../../parts/RecordTable.tsx'
import type { Column } from '../../parts/Table.tsx'
import { ListTools } from '../../parts/ListTools.tsx'
import { useColumns } from '../../parts/useColumns.ts'
import { useListAddress } from '../../parts/useListAddress.ts'
import { useRecords } from '../../parts/useRecords.ts'
import { State } from './State.tsx'
import { words } from './words.ts'

const keyOf = ({ secrets = {}, has_api_key: has }: Provider): string => {
  const hint = secrets['config.api_key']?.hint
  return hint ? words.keyEnds(hint) : has ? words.keySet : words.keyNone
}
const hostOf = ({ config = {} }: Provider): string =>
  [config['base_url'], config['preset'], config['region']].find((one) => typeof one === 'string') ?? '—'

const all: readonly Column<Provider>[] = [
  {
    name: 'name',
    label: words.name,
    sort: 'name',
    cell: (row) => <RecordName {...row} />,
    text: ({ name }) => name,
  },
  {
    name: 'state',
    label: words.state,
    cell: (row) => <State provider={row} />,
    text: ({ status }) => status.reason ?? status.state,
    filter: ({ status }) => asked('state', status.state, words.states[status.state]),
  },
  {
    name: 'type',
    label: words.type,
    cell: ({ type }) => type,
    text: ({ type }) => type,
    filter: ({ type }) => asked('type', type),
  },
  { name: 'address', label: words.address, cell: hostOf, text: hostOf },
  { name: 'key', label: words.key, cell: keyOf, text: keyOf },
  { name: 'models', label: words.models, number: true, cell: (row) => count(row.models), text: (row) => row.models },
]

function useFilters(): readonly FilterField[] {
  const { data: types = [] } = useQuery(providerTypes)
  return [
    {
      name: 'type',
      label: words.type,
      values: types.map(({ type }) => ({ value: type, label: type })),
      typed: true,
      leavable: true,
    },
    { name: 'state', label: words.state, values: valuesOf(words.states), leavable: true },
    { name: 'source', label: words.source, values: valuesOf(words.sources) },
  ]
}

export function ProviderList() {
  const fields = useFilters()
  const { query, isFiltered, order } = useListAddress(fields, ['name', 'created_at'])
  const list = useRecords(providerList(query))
  const columns = useColumns('sluice-columns-providers', all)
  const [, change] = useAddress()
  const add = (
    <Button look="primary" icon="plus" onClick={() => change({ add: '1' }, { push: true })}>
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
        file="providers.csv"
        path="/api/config/providers"
        query={query}
      />
      <RecordTable
        list={list}
        height={240}
        none={isFiltered ? words.emptyFiltered : words.empty}
        caption={words.title}
        columns={columns.shown}
        idOf={({ name }) => name}
        to={({ name }) => ({ to: `/providers/${encodeURIComponent(name)}` })}
        order={order}
      />
    </Page>
  )
}
