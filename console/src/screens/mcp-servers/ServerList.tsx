import { useQueryClient } from '@tanstack/react-query'
import { useAddress } from '../../parts/search.ts'
import { Button } from '../../parts/Button.tsx'
import { asked } from '../../parts/CellMenu.tsx'
import { valuesOf } from '../../parts/FilterBar.tsx'
import type { FilterField } from '../../parts/FilterBar.tsx'
import { ListPage } from '../../parts/ListPage.tsx'
import { RecordName } from '../../parts/RecordName.tsx'
import type { Column } from '../../parts/Table.tsx'
import { serverList, status } from './api.ts'
import type { McpServer, Status } from './api.ts'
import { SessionsOf, StateOf, stateText, ToolsOf, toolsText } from './State.tsx'
import { words } from './words.ts'

const placeOf = ({ url, command, arguments: given }: McpServer): string => url ?? [command, ...given].join(' ')

/** The columns; `statusOf` gives what is known by now of how a server is. */
const columnsWith = (statusOf: (server: McpServer) => Status | undefined): readonly Column<McpServer>[] => [
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
    cell: (server) => <StateOf server={server} />,
    text: (server) => server.problem ?? stateText(statusOf(server)),
  },
  {
    name: 'tools',
    label: words.columns.tools,
    cell: (server) => <ToolsOf server={server} />,
    text: (server) => toolsText(statusOf(server)),
  },
  {
    name: 'transport',
    label: words.columns.transport,
    cell: ({ transport }) => (transport === null ? '—' : words.transports[transport]),
    text: ({ transport }) => transport,
    filter: ({ transport }) => asked('transport', transport, transport && words.transports[transport]),
  },
  { name: 'address', label: words.columns.address, cell: placeOf, text: placeOf },
  {
    name: 'sessions',
    label: words.columns.sessions,
    number: true,
    cell: (server) => <SessionsOf server={server} />,
    text: (server) => statusOf(server)?.sessions ?? null,
  },
  {
    name: 'description',
    label: words.columns.description,
    cell: ({ description }) => description,
    text: ({ description }) => description,
  },
]

const fields: readonly FilterField[] = [
  { name: 'transport', label: words.columns.transport, values: valuesOf(words.transports), leavable: true },
  { name: 'enabled', label: words.enabledField, values: valuesOf(words.yesNo) },
  { name: 'source', label: words.source, values: valuesOf(words.sources) },
]

export function ServerList() {
  const queries = useQueryClient()
  const [, change] = useAddress()
  return (
    <ListPage
      name="mcp-servers"
      words={words}
      actions={
        <Button look="primary" icon="plus" onClick={() => change({ add: '1' }, { push: true })}>
          {words.add}
        </Button>
      }
      fields={fields}
      sorts={['name', 'created_at']}
      list={serverList}
      columns={columnsWith(({ name }) => queries.getQueryData(status(name).queryKey))}
      idOf={({ name }) => name}
      to={({ name }) => ({ to: `/mcp-servers/${encodeURIComponent(name)}` })}
    />
  )
}
