import type { Json } from '../../engine/index.ts'
import { Unreadable } from './tree.ts'

/** A row of a table: the columns that this version of LiteLLM has. Times are texts in UTC without a zone. */
export type Row = Readonly<Record<string, Json | undefined>>

/** Tables of LiteLLM whose rows are read. */
const tables = [
  'VerificationToken',
  'BudgetTable',
  'TeamTable',
  'ProjectTable',
  'UserTable',
  'OrganizationTable',
  'TeamMembership',
  'DeprecatedVerificationToken',
  'ProxyModelTable',
  'CredentialsTable',
  'Config',
] as const
/** Tables of which only the number of rows is told. */
const countedTables = ['EndUserTable', 'OrganizationMembership'] as const

export type TableName = (typeof tables)[number]

/** What is read of a database of LiteLLM. */
export interface LitellmDatabase {
  readonly rows: Readonly<Record<TableName, readonly Row[]>>
  readonly counts: Readonly<Record<(typeof countedTables)[number], number>>
}

/** The part of `pg` that is used. */
interface Client {
  connect(): Promise<unknown>
  query(text: string, values?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>
  end(): Promise<void>
}

/** Columns by which rows are ordered, so that the same database gives the same files. */
const orders = [
  'created_at',
  'token',
  'model_id',
  'credential_name',
  'budget_id',
  'team_id',
  'project_id',
  'user_id',
  'organization_id',
  'param_name',
] as const
const patience = 10_000
const mostRows = 200_000

/** Uses a connection that only reads. Rejects with `Unreadable`, which quotes nothing of the address. */
async function connected<T>(url: string, what: string, use: (client: Client) => Promise<T>): Promise<T> {
  if (!/^postgres(?:ql)?:\/\//.test(url)) throw new Unreadable(`${what} is no address that starts with postgres://`)
  const { default: pg } = await import('pg')
  try {
    const client: Client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: patience,
      query_timeout: 60_000,
    })
    await client.connect()
    try {
      return await use(client)
    } finally {
      await client.end()
    }
  } catch (error) {
    if (error instanceof Unreadable) throw error
    const { code, message } = error as { code?: unknown; message?: unknown }
    const isPlain = typeof message === 'string' && !message.includes('://')
    throw new Unreadable(
      `${what} cannot be read: ${typeof code === 'string' ? code : isPlain ? message : 'unknown error'}`,
      {
        cause: error,
      },
    )
  }
}

/** Whether a database has tables of LiteLLM. Rejects with `Unreadable`. */
export function hasLitellmTables(url: string): Promise<boolean> {
  return connected(url, 'DATABASE_URL', async (client) => {
    const { rows } = await client.query(
      `select 1 from information_schema.tables where table_name = 'LiteLLM_VerificationToken' limit 1`,
    )
    return rows.length > 0
  })
}

/** Reads the tables of LiteLLM, all as they were at one moment. Rejects with `Unreadable`. */
export function readDatabase(url: string): Promise<LitellmDatabase> {
  return connected(url, '--database', async (client) => {
    await client.query('begin transaction isolation level repeatable read read only')
    const { rows: columns } = await client.query(
      `select table_schema as schema, table_name as name, column_name as column, data_type as type
      from information_schema.columns where table_name like 'LiteLLM\\_%'
      order by table_schema, table_name, ordinal_position`,
    )
    const known = columns as { schema: string; name: string; column: string; type: string }[]
    const home = known.find(({ name }) => name === 'LiteLLM_VerificationToken')?.schema
    if (home === undefined) throw new Unreadable('--database has no tables of LiteLLM')
    const of = (table: string) => known.filter(({ schema, name }) => schema === home && name === `LiteLLM_${table}`)
    const from = (table: string) => `"${home.replaceAll('"', '""')}"."LiteLLM_${table}"`
    const read = async (table: string): Promise<readonly Row[]> => {
      const list = of(table).map(({ column, type }) => {
        const quoted = `"${column.replaceAll('"', '""')}"`
        // The driver would take a time without a zone for one of this machine's.
        return type.startsWith('timestamp') ? `${quoted}::text as ${quoted}` : quoted
      })
      if (list.length === 0) return []
      const present = orders.filter((one) => of(table).some(({ column }) => column === one))
      const order = present.length === 0 ? '' : `order by ${present.map((one) => `"${one}"`).join(', ')}`
      const { rows } = await client.query(
        `select ${list.join(', ')} from ${from(table)} ${order} limit ${mostRows + 1}`,
      )
      if (rows.length > mostRows) throw new Unreadable(`LiteLLM_${table} has more than ${mostRows} rows`)
      return rows as Row[]
    }
    const counted = async (table: string) => {
      if (of(table).length === 0) return 0
      const { rows } = await client.query(`select count(*)::int as count from ${from(table)}`)
      return Number(rows[0]?.['count'] ?? 0)
    }
    const found: [TableName, readonly Row[]][] = []
    for (const table of tables) found.push([table, await read(table)])
    const counts: [string, number][] = []
    for (const table of countedTables) counts.push([table, await counted(table)])
    return {
      rows: Object.fromEntries(found) as LitellmDatabase['rows'],
      counts: Object.fromEntries(counts) as LitellmDatabase['counts'],
    }
  })
}

/** A column with a text that is not empty. */
export function textIn(row: Row | undefined, column: string): string | undefined {
  const value = row?.[column]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A column with a number; 64-bit integers come as texts. */
export function numberIn(row: Row | undefined, column: string): number | undefined {
  const value = row?.[column]
  if (value === null || value === undefined || value === '' || typeof value === 'object') return undefined
  const number = Number(value)
  return Number.isFinite(number) ? number : undefined
}

/** A column with texts. */
export function textsIn(row: Row | undefined, column: string): readonly string[] {
  const value = row?.[column]
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** A time without a zone, which is in UTC: milliseconds since 1970. */
export function momentIn(row: Row | undefined, column: string): number | undefined {
  const text = textIn(row, column)
  if (text === undefined) return undefined
  const bare = text.replace(' ', 'T')
  const moment = Date.parse(/(?:Z|[+-]\d\d(?::?\d\d)?)$/.test(bare) ? bare.replace(/([+-]\d\d)$/, '$1:00') : `${bare}Z`)
  return Number.isNaN(moment) ? undefined : moment
}

/** Whether a column says something: neither null, nor false, nor empty. */
export function isSaid(row: Row, column: string): boolean {
  const value = row[column]
  if (value === null || value === undefined || value === false || value === '') return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}
