import { Allowlist, allowlistText } from '../../parts/Allowlist.tsx'
import { BudgetCell, bucketText } from '../../parts/BudgetCell.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { rateText } from '../../parts/rate-limit.ts'
import type { Column } from '../../parts/Table.tsx'
import { Tag } from '../../parts/Tag.tsx'
import type { Bucket } from '../../parts/budgets.ts'
import type { Member } from './api.ts'
import { MemberState, stateText } from './MemberState.tsx'
import { words } from './words.ts'
import classes from './members.module.css'

const names = words.columns

/** The columns of the list; `bucketsOf` gives the budgets that bind a member. */
export const columnsWith = (bucketsOf: (member: Member) => readonly Bucket[]): readonly Column<Member>[] => [
  {
    name: 'username',
    label: names.username,
    sort: 'username',
    cell: ({ username }) => username,
    text: ({ username }) => username,
  },
  {
    name: 'role',
    label: names.role,
    cell: ({ role }) => <Tag {...(role === 'admin' && { look: 'accent' })}>{words.roles[role]}</Tag>,
    text: ({ role }) => words.roles[role],
  },
  { name: 'state', label: names.state, cell: (member) => <MemberState member={member} />, text: stateText },
  {
    name: 'budget',
    label: names.budget,
    cell: (member) => <BudgetCell buckets={bucketsOf(member)} own={member.username} />,
    text: (member) => bucketsOf(member).map(bucketText).join('; '),
  },
  {
    name: 'limits',
    label: names.limits,
    cell: ({ rate_limit: limit }) =>
      limit ? rateText(limit) : <span className={classes.faint}>{words.unlimited}</span>,
    text: ({ rate_limit: limit }) => (limit ? rateText(limit) : ''),
  },
  {
    name: 'models',
    label: names.models,
    cell: ({ models }) => <Allowlist names={models} most={2} />,
    text: ({ models }) => allowlistText(models),
  },
  { name: 'keys', label: names.keys, number: true, cell: ({ keys }) => keys, text: ({ keys }) => keys },
  {
    name: 'last_login',
    label: names.lastLogin,
    sort: 'last_login_at',
    cell: ({ last_login_at: at }) =>
      at === null ? <span className={classes.faint}>{words.never}</span> : <Moment at={at} />,
    text: ({ last_login_at: at }) => at,
  },
  {
    name: 'created',
    label: names.created,
    sort: 'created_at',
    cell: ({ created_at: at }) => <Moment at={at} />,
    text: ({ created_at: at }) => at,
    spare: true,
  },
]
