import { useQuery } from '@tanstack/react-query'
import { count, duration } from '../../format.ts'
import { Button } from '../../parts/Button.tsx'
import { asked } from '../../parts/CellMenu.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { RecordName } from '../../parts/RecordName.tsx'
import { useAddress } from '../../parts/search.ts'
import type { Column } from '../../parts/Table.tsx'
import { figures, guardList, kinds } from './api.ts'
import type { Figures, Guard } from './api.ts'
import { State, stateText } from './State.tsx'
import { words } from './words.ts'

const sidesOf = ({ side }: Guard): string => side.map((one) => words.sides[one]).join(', ')

/** The columns; `of` gives what is known by now of what a guard did, on all sides. */
const columnsWith = (of: (guard: Guard) => readonly Figures[]): readonly Column<Guard>[] => {
  const sumOf = (guard: Guard, name: 'verdicts' | 'hits' | 'errors') =>
    of(guard).reduce((sum, one) => sum + one[name], 0)
  const slowest = (guard: Guard) =>
    of(guard).reduce<number | null>((most, { p95 }) => Math.max(most ?? 0, p95 ?? 0), null)
  const figure = (name: 'verdicts' | 'hits' | 'errors'): Column<Guard> => ({
    name,
    label: words.columns[name],
    number: true,
    cell: (guard) => count(sumOf(guard, name)),
    text: (guard) => sumOf(guard, name),
  })
  return [
    {
      name: 'name',
      label: words.columns.name,
      sort: 'name',
      cell: (row) => <RecordName {...row} />,
      text: ({ name }) => name,
    },
    {
      name: 'state',
      label: words.columns.state,
      cell: (guard) => <State guard={guard} />,
      text: stateText,
    },
    {
      name: 'kind',
      label: words.columns.kind,
      sort: 'kind',
      cell: ({ kind }) => kind,
      text: ({ kind }) => kind,
      filter: ({ kind }) => asked('kind', kind),
    },
    { name: 'side', label: words.columns.side, cell: sidesOf, text: sidesOf },
    {
      name: 'action',
      label: words.columns.action,
      cell: ({ action }) => words.actions[action],
      text: ({ action }) => words.actions[action],
      filter: ({ action }) => asked('action', action, words.actions[action]),
    },
    {
      name: 'default',
      label: words.columns.default,
      cell: ({ default: all }) => (all ? words.forAll : words.forNamed),
      text: ({ default: all }) => (all ? words.forAll : words.forNamed),
    },
    figure('verdicts'),
    figure('hits'),
    figure('errors'),
    {
      name: 'p95',
      label: words.columns.p95,
      number: true,
      cell: (guard) => duration(slowest(guard)),
      text: slowest,
    },
  ]
}

function useFilters(): readonly FilterField[] {
  const { data = [] } = useQuery(kinds)
  const values = data.map(({ kind }) => ({ value: kind, label: kind }))
  return [
    { name: 'kind', label: words.columns.kind, values, typed: true, leavable: true },
    { name: 'action', label: words.columns.action, values: valuesOf(words.actions), leavable: true },
    { name: 'shadow', label: words.fields.shadow, values: valuesOf(words.yesNo) },
    { name: 'default', label: words.fields.default, values: valuesOf(words.yesNo) },
    { name: 'source', label: words.source, values: valuesOf(words.sources) },
  ]
}

const none: readonly Figures[] = []

export function GuardList() {
  const [, change] = useAddress()
  const { data = none } = useQuery(figures)
  const ofGuards = Map.groupBy(data, ({ guard }) => guard)
  return (
    <ListPage
      name="guards"
      words={words}
      actions={
        <Button look="primary" icon="plus" onClick={() => change({ add: '1' }, { push: true })}>
          {words.add}
        </Button>
      }
      fields={useFilters()}
      sorts={['name', 'kind', 'created_at']}
      list={guardList}
      columns={columnsWith(({ name }) => ofGuards.get(name) ?? none)}
      idOf={({ name }) => name}
      to={({ name }) => ({ to: `/guards/${encodeURIComponent(name)}` })}
    />
  )
}
