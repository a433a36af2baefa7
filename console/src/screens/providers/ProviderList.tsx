import { useQuery } from '@tanstack/react-query'
import { useAddress } from '../../parts/search.ts'
import { providerList, providerTypes } from '../../catalog/providers.ts'
import type { Provider } from '../../catalog/providers.ts'
import { count } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { asked } from '../../parts/CellMenu.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { RecordName } from '../../parts/RecordName.tsx'
import type { Column } from '../../parts/Table.tsx'
import { State } from './State.tsx'
import { words } from './words.ts'

const keyOf = ({ secrets = {}, has_api_key: has }: Provider): string => {
  const hint = secrets['config.api_key']?.hint
  return hint ? words.keyEnds(hint) : has ? words.keySet : words.keyNone
}
const hostOf = ({ config = {} }: Provider): string =>
  [config['base_url'], config['preset'], config['region']].find((one) => typeof one === 'string') ?? '—'

const columns: readonly Column<Provider>[] = [
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
  const [, change] = useAddress()
  return (
    <ListPage
      name="providers"
      words={words}
      actions={
        <Button look="primary" icon="plus" onClick={() => change({ add: '1' }, { push: true })}>
          {words.add}
        </Button>
      }
      fields={useFilters()}
      sorts={['name', 'created_at']}
      list={providerList}
      columns={columns}
      idOf={({ name }) => name}
      to={({ name }) => ({ to: `/providers/${encodeURIComponent(name)}` })}
    />
  )
}
