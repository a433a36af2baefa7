import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../parts/Button.tsx'
import { Chosen } from '../../parts/Chosen.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { useBuckets } from '../../parts/useBuckets.ts'
import { useNames } from '../../parts/useNames.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { keyList, mayMakeKeys } from './api.ts'
import { useSwitchKeys } from './change.ts'
import { columnsWith } from './columns.tsx'
import { words } from './words.ts'

/** Who may ask, for what, and how much of each budget is left. */
export default function Keys() {
  const isAdmin = useIsAdmin()
  const mayMake = useQuery(mayMakeKeys).data === true || isAdmin
  const navigate = useNavigate()
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set())
  const switchKeys = useSwitchKeys()
  return (
    <ListPage
      name="keys"
      words={isAdmin ? words : { ...words, empty: words.emptyOwn }}
      actions={
        mayMake && (
          <Button look="primary" icon="plus" onClick={() => void navigate({ to: '/keys/new' })}>
            {words.add}
          </Button>
        )
      }
      fields={useFilters()}
      sorts={['-created_at', 'name', 'last_used_at', 'spent']}
      list={keyList}
      columns={columnsWith(useBuckets().ofKey)}
      idOf={({ id }) => id}
      to={({ id }) => ({ to: `/keys/${encodeURIComponent(id)}` })}
      choice={
        isAdmin
          ? { chosen, choose, labelOf: ({ name, source }) => (source === 'file' ? undefined : words.choose(name)) }
          : undefined
      }
    >
      {(rows) => {
        const keys = rows.filter(({ id }) => chosen.has(id))
        return (
          <Chosen
            rows={keys}
            label={words.chosen(keys.length)}
            isOn={({ disabled }) => !disabled}
            turn={(on) => switchKeys(keys, !on)}
            onDone={() => choose(new Set())}
          />
        )
      }}
    </ListPage>
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
