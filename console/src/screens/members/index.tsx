import { useNavigate } from '@tanstack/react-router'
import { Button } from '../../parts/Button.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { Page } from '../../parts/Page.tsx'
import { useBuckets } from '../../parts/useBuckets.ts'
import { useIsAdmin } from '../../parts/useUser.ts'
import { memberList } from './api.ts'
import { columnsWith } from './columns.tsx'
import { words } from './words.ts'

const fields: readonly FilterField[] = [
  {
    name: 'role',
    label: words.filters.role,
    values: valuesOf(words.roles),
  },
  {
    name: 'disabled',
    label: words.filters.disabled,
    values: [
      { value: 'false', label: words.states.enabled },
      { value: 'true', label: words.states.disabled },
    ],
  },
]

/** Who may come in, and what they may spend. */
export default function Members() {
  if (useIsAdmin()) return <Shown />
  return (
    <Page title={words.title}>
      <Forbidden what={words.forbidden} />
    </Page>
  )
}

function Shown() {
  const navigate = useNavigate()
  return (
    <ListPage
      name="members"
      words={{ ...words, empty: words.emptyFiltered }}
      actions={
        <Button look="primary" icon="plus" onClick={() => void navigate({ to: '/members/new' })}>
          {words.add}
        </Button>
      }
      fields={fields}
      sorts={['username', 'created_at', 'last_login_at']}
      list={memberList}
      columns={columnsWith(useBuckets().ofMember)}
      idOf={({ id }) => id}
      to={({ id }) => ({ to: `/members/${id}` })}
    />
  )
}
