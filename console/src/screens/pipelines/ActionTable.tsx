import { useState } from 'react'
import { Empty } from '../../parts/Empty.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { Tag } from '../../parts/Tag.tsx'
import type { WholePipeline } from './api.ts'
import classes from './PipelineList.module.css'
import { words } from './words.ts'

type Action = NonNullable<WholePipeline['actions']>[number]

const columns: readonly Column<Action>[] = [
  { name: 'route', label: words.action.route, cell: ({ route }) => <code>{route}</code>, text: ({ route }) => route },
  { name: 'name', label: words.action.name, cell: ({ name }) => <code>{name}</code>, text: ({ name }) => name },
  {
    name: 'access',
    label: words.action.access,
    cell: ({ access }) => <Tag>{access}</Tag>,
    text: ({ access }) => access,
  },
  { name: 'summary', label: words.action.summary, cell: ({ summary }) => summary, text: ({ summary }) => summary },
]

/** The actions that a pipeline runs, by their routes. */
export function ActionTable({ actions }: { readonly actions: readonly Action[] }) {
  const [find, setFind] = useState('')
  const letters = find.toLowerCase()
  const found = actions.filter(({ name, route, summary }) =>
    `${name} ${route} ${summary}`.toLowerCase().includes(letters),
  )
  return (
    <>
      <input
        className={classes.find}
        type="search"
        value={find}
        placeholder={words.action.find}
        aria-label={words.action.find}
        onChange={(event) => setFind(event.currentTarget.value)}
      />
      {found.length === 0 ? (
        <Empty text={words.action.none} />
      ) : (
        <Table caption={words.action.title} columns={columns} rows={found} idOf={({ name }) => name} />
      )}
    </>
  )
}
