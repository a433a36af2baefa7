import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    mcp_tools: ToolsTable
    mcp_tools_changes: ChangesTable
  }
}

/** A tool that a server has offered. */
export interface ToolsTable {
  server: string
  tool: string
  /** Hash of the tool as the server offered it last. */
  hash: string
  /** Hash of the tool that an admin has approved, or that was seen first. */
  approved: string
  /** The tool as the server offered it last, in JSON; null: too long to keep, or seen by an earlier version. */
  definition: string | null
  /** The tool that an admin has approved, or that was seen first. */
  approved_definition: string | null
}

/** The only row. Every change of tools updates it first, so that changes wait for one another. */
export interface ChangesTable {
  id: number
  changes: number
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-tools',
    async up(queries) {
      await queries.schema
        .createTable('mcp_tools')
        .addColumn('server', 'text', (column) => column.notNull())
        .addColumn('tool', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .addColumn('approved', 'text', (column) => column.notNull())
        .addPrimaryKeyConstraint('mcp_tools_key', ['server', 'tool'])
        .execute()
      await queries.schema
        .createTable('mcp_tools_changes')
        .addColumn('id', 'integer', (column) => column.primaryKey())
        .addColumn('changes', 'integer', (column) => column.notNull())
        .execute()
      await queries.insertInto('mcp_tools_changes').values({ id: 1, changes: 0 }).execute()
    },
  },
  {
    name: '2-definitions',
    async up(queries) {
      for (const column of ['definition', 'approved_definition'])
        // SQLite adds one column at a time.
        // oxlint-disable-next-line no-await-in-loop
        await queries.schema.alterTable('mcp_tools').addColumn(column, 'text').execute()
    },
  },
]
