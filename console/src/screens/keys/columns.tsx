import { Allowlist, allowlistText } from '../../parts/Allowlist.tsx'
import { BudgetCell, bucketText } from '../../parts/BudgetCell.tsx'
import type { Bucket } from '../../parts/budgets.ts'
import { Moment } from '../../parts/Moment.tsx'
import { RecordName } from '../../parts/RecordName.tsx'
import { rateText } from '../../parts/rate-limit.ts'
import { Status } from '../../parts/Status.tsx'
import type { State } from '../../parts/Status.tsx'
import type { Column } from '../../parts/Table.tsx'
import { shared } from '../../words.ts'
import type { Key } from './api.ts'
import { words } from './words.ts'
import classes from './keys.module.css'

export const stateLooks: Readonly<Record<Key['state'], State>> = {
  active: 'good',
  disabled: 'off',
  expired: 'warning',
  off: 'warning',
}

const names = words.columns

/** The columns of the list; `bucketsOf` gives the budgets that bind a key. */
export const columnsWith = (bucketsOf: (key: Key) => readonly Bucket[]): readonly Column<Key>[] => [
  {
    name: 'name',
    label: names.name,
    sort: 'name',
    cell: (row) => <RecordName {...row} />,
    text: ({ name }) => name,
  },
  {
    name: 'state',
    label: names.state,
    cell: ({ state }) => <Status state={stateLooks[state]}>{words.statesShort[state]}</Status>,
    text: ({ state }) => words.states[state],
  },
  {
    name: 'owner',
    label: names.owner,
    cell: ({ owner }) => owner?.username ?? <span className={classes.faint}>{words.nobody}</span>,
    text: ({ owner }) => owner?.username ?? '',
  },
  {
    name: 'budget',
    label: names.budget,
    sort: 'spent',
    cell: (key) => <BudgetCell buckets={bucketsOf(key)} own={shared.thisKey} />,
    text: (key) => bucketsOf(key).map(bucketText).join('; '),
  },
  {
    name: 'limits',
    label: names.limits,
    cell: ({ rate_limit: limit }) => (
      <span className={limit ? classes.limits : classes.faint}>{limit ? rateText(limit) : words.unlimited}</span>
    ),
    text: ({ rate_limit: limit }) => (limit ? rateText(limit) : ''),
  },
  {
    name: 'models',
    label: names.models,
    cell: ({ models }) => <Allowlist names={models} most={2} />,
    text: ({ models }) => allowlistText(models),
  },
  {
    name: 'servers',
    label: names.servers,
    cell: ({ mcp_servers: servers }) => <Allowlist names={servers} most={2} all={words.allServers} />,
    text: ({ mcp_servers: servers }) => allowlistText(servers, words.allServers),
    spare: true,
  },
  {
    name: 'last_used',
    label: names.lastUsed,
    sort: 'last_used_at',
    cell: ({ last_used_at: at }) => <MomentOrNever at={at} />,
    text: ({ last_used_at: at }) => at,
  },
  {
    name: 'expires',
    label: names.expires,
    cell: ({ expires_at: at }) => <MomentOrNever at={at} />,
    text: ({ expires_at: at }) => at,
    spare: true,
  },
  {
    name: 'tags',
    label: names.tags,
    cell: ({ tags }) => <Tags tags={tags} />,
    text: ({ tags }) => tagTexts(tags).join(', '),
    spare: true,
  },
  {
    name: 'hint',
    label: names.hint,
    cell: ({ hint }) => <code>{hint}</code>,
    text: ({ hint }) => hint,
    spare: true,
  },
  {
    name: 'created',
    label: names.created,
    sort: 'created_at',
    cell: ({ created_at: at }) => <MomentOrNever at={at} />,
    text: ({ created_at: at }) => at,
    spare: true,
  },
]

const tagTexts = (tags: Key['tags']): readonly string[] =>
  Object.entries(tags).map(([name, value]) => `${name}:${value}`)

export function Tags({ tags }: Pick<Key, 'tags'>) {
  const texts = tagTexts(tags)
  return texts.length === 0 ? <span className={classes.faint}>{words.none}</span> : <Allowlist names={texts} />
}

export function MomentOrNever({ at }: { readonly at: string | null }) {
  return at === null ? <span className={classes.faint}>{words.never}</span> : <Moment at={at} />
}
