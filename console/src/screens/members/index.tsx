import { useNavigate } from '@tanstack/react-router'
import { Button } from '../../parts/Button.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { Forbidden } from '../../parts/Forbidden.tsx'
import { Page } from '../../parts/Page.tsx'
import { RecordTable } from '../../parts/RecordTable.tsx'
import { ListTools } from '../../parts/ListTools.tsx'
import { useBuckets } from '../../parts/useBuckets.ts'
import { useColumns } from '../../parts/useColumns.ts'
import { useListAddress } from '../../parts/useListAddress.ts'
import { useRecords } from '../../parts/useRecords.ts'
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
  const { query, order } = useListAddress(fields, ['username', 'created_at', 'last_login_at'])
  const navigate = useNavigate()
  const list = useRecords(memberList(query))
  const columns = useColumns('sluice-columns-members', columnsWith(useBuckets().ofMember))
  return (
    <Page
      title={words.title}
      actions={
        <Button look="primary" icon="plus" onClick={() => void navigate({ to: '/members/new' })}>
          {words.add}
        </Button>
      }
    >
      <ListTools
        fields={fields}
        search={words.search}
        columns={columns}
        rows={list.rows}
        file="members.csv"
        path="/api/team/members"
        query={query}
      />
      <RecordTable
        list={list}
        height={320}
        none={words.emptyFiltered}
        caption={words.title}
        columns={columns.shown}
        idOf={({ id }) => id}
        to={({ id }) => ({ to: `/members/${id}` })}
        order={order}
      />
    </Page>
  )
}
