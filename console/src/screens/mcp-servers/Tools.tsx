import { useQuery } from '@tanstack/react-query'
import { oneOf, useAddress } from '../../parts/search.ts'
import { Card } from '../../parts/Card.tsx'
import { Empty } from '../../parts/Empty.tsx'
import { Loaded } from '../../parts/Loaded.tsx'
import { Moment } from '../../parts/Moment.tsx'
import { Status } from '../../parts/Status.tsx'
import { Table } from '../../parts/Table.tsx'
import type { Column } from '../../parts/Table.tsx'
import { capabilities, security } from './api.ts'
import type { McpServer, Security, Tool } from './api.ts'
import { ChangedTools } from './ChangedTools.tsx'
import { OneTool } from './OneTool.tsx'
import { words } from './words.ts'
import classes from './mcp-servers.module.css'

/** The tools that a server offers now: those that are not what was approved first, then all. */
export function Tools({ server }: { readonly server: McpServer }) {
  const [search] = useAddress()
  const opened = oneOf(search, 'tool')
  const query = useQuery(capabilities(server.name))
  const mode = useQuery(security).data?.tool_changes ?? 'report'
  return (
    <Loaded query={query} height={320}>
      {({ tools, fetched_at: at }) => {
        const changed = tools.filter(({ approved }) => !approved)
        const tool = tools.find(({ name }) => name === opened)
        return (
          <div className={classes.stack}>
            {changed.length > 0 && <ChangedTools server={server.name} tools={changed} mode={mode} />}
            <div className={classes.split} data-open={opened !== undefined}>
              <Card
                title={words.toolsTable}
                note={
                  <>
                    {words.fetched} <Moment at={at} />
                  </>
                }
              >
                {tools.length === 0 ? (
                  <Empty text={words.noTools} />
                ) : (
                  <Table
                    caption={words.toolsTable}
                    columns={columnsOf(server, mode)}
                    rows={tools}
                    idOf={({ name }) => name}
                    to={({ name }) => ({
                      to: `/mcp-servers/${encodeURIComponent(server.name)}`,
                      search: { ...search, tool: name },
                    })}
                  />
                )}
              </Card>
              {opened !== undefined && <OneTool name={opened} tool={tool} />}
            </div>
          </div>
        )
      }}
    </Loaded>
  )
}

/** Why clients do not get a tool; undefined: they do. */
function hidingOf({ tools }: McpServer, mode: Security['tool_changes'], { name, approved }: Tool): string | undefined {
  if (tools.allow !== null && !tools.allow.includes(name)) return words.notOfferedBy.allow
  if (tools.deny.includes(name)) return words.notOfferedBy.deny
  return mode === 'refuse' && !approved ? words.notOfferedBy.refuse : undefined
}

const columnsOf = (server: McpServer, mode: Security['tool_changes']): readonly Column<Tool>[] => [
  { name: 'name', label: words.toolColumns.name, cell: ({ name }) => <code>{name}</code>, text: ({ name }) => name },
  {
    name: 'state',
    label: words.toolColumns.state,
    cell: ({ approved }) => (
      <Status state={approved ? 'good' : 'warning'}>{approved ? words.approved : words.changed}</Status>
    ),
    text: ({ approved }) => (approved ? words.approved : words.changed),
  },
  {
    name: 'offered',
    label: words.toolColumns.offered,
    cell(tool) {
      const hiding = hidingOf(server, mode, tool)
      return hiding === undefined ? words.offered : <Status state="off">{words.notOffered}</Status>
    },
    text: (tool) => hidingOf(server, mode, tool) ?? words.offered,
  },
  {
    name: 'description',
    label: words.toolColumns.description,
    cell: ({ description }) => description,
    text: ({ description }) => description,
  },
  {
    name: 'hash',
    label: words.toolColumns.hash,
    cell: ({ hash }) => <code>{hash.slice(0, 8)}</code>,
    text: ({ hash }) => hash,
  },
]
