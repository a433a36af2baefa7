import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { useNames } from '../../parts/useNames.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { words } from './words.ts'

/** What the list can be filtered by. */
export function useFilters(): readonly FilterField[] {
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
