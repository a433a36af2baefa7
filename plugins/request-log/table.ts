import type { ServiceMigration, SqlDialect } from '../../engine/index.ts'
import { sumsMigrations, unsummedRows } from './sums-table.ts'

/** A stored row of the request log. Milliseconds, tokens and micro-USD are integers. */
export interface RequestsTable {
  id: string
  at: number
  type: string
  key_id: string | null
  key_name: string | null
  member_id: string | null
  member_name: string | null
  requested: string | null
  model: string | null
  provider: string | null
  protocol: string | null
  upstream_protocol: string | null
  /** 1 or 0: SQLite has no booleans. */
  stream: number
  status: number
  result: string
  error: string | null
  attempts: number
  input_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
  output_tokens: number | null
  reasoning_tokens: number | null
  cost_micros: number | null
  first_byte: number | null
  duration: number
  reference: string | null
  parent: string | null
  tier: string | null
  /** JSON object of texts; null: none. */
  tags: string | null
  /** Null in rows of earlier versions, like the other columns that they lack. */
  config_version: string | null
  /** When the row was made. */
  ended: number | null
  /** What smart routing saved, negative if it cost more; null: the request was not routed. */
  savings_micros: number | null
  /** The pipeline that served the exchange. */
  pipeline: string | null
  /** JSON list of the providers that failed the request, also where another one answered; null: none did. */
  failed_providers: string | null
  /** The trace that the exchange is a part of (W3C Trace Context), as 32 hexadecimal digits; null: of none. */
  trace_id: string | null
  /** The strongest of what guards did: denied, masked, flagged; null: nothing. */
  guarded: string | null
  /** The charge of the exchange, if it goes with the row: when, micro-USD, and tenths of the estimate. */
  charged_at: number | null
  charged_micros: number | null
  charged_overrun: number | null
  /** JSON object. */
  metadata: string
}

/** The bodies of a request, sealed. */
export interface CapturesTable {
  id: string
  /** Start and type of the exchange, as in its row. */
  at: number
  type: string
  /** Base64 of the sealed JSON. */
  sealed: string
}

declare module '../../engine/index.ts' {
  interface Tables {
    requests: RequestsTable
    requests_captures: CapturesTable
  }
}

/**
 * Earlier versions created the table in the engine, the first ones without `parent`. Such a database keeps its rows.
 */
const table: ServiceMigration = {
  name: '0001-requests',
  async up(queries, dialect) {
    await queries.schema
      .createTable('requests')
      .ifNotExists()
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('key_id', 'text')
      .addColumn('requested', 'text')
      .addColumn('model', 'text')
      .addColumn('provider', 'text')
      .addColumn('protocol', 'text')
      .addColumn('upstream_protocol', 'text')
      .addColumn('stream', 'integer', (column) => column.notNull())
      .addColumn('status', 'integer', (column) => column.notNull())
      .addColumn('result', 'text', (column) => column.notNull())
      .addColumn('error', 'text')
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('input_tokens', 'bigint')
      .addColumn('cache_read_tokens', 'bigint')
      .addColumn('cache_write_tokens', 'bigint')
      .addColumn('output_tokens', 'bigint')
      .addColumn('reasoning_tokens', 'bigint')
      .addColumn('cost_micros', 'bigint')
      .addColumn('first_byte', 'bigint')
      .addColumn('duration', 'bigint', (column) => column.notNull())
      .addColumn('reference', 'text')
      .addColumn('parent', 'text')
      .addColumn('metadata', 'text', (column) => column.notNull())
      .execute()
    if (dialect === 'postgres')
      await queries.schema
        .alterTable('requests')
        .addColumn('parent', 'text', (column) => column.ifNotExists())
        .execute()
    else await addParent(queries)
    const index = (name: string) => queries.schema.createIndex(name).ifNotExists().on('requests')
    await index('requests_at').column('at').execute()
    await index('requests_key_id_at').columns(['key_id', 'at']).execute()
    // Most rows have no parent.
    await index('requests_parent').column('parent').where('parent', 'is not', null).execute()
  },
}

/** Adds `parent` if it is missing, for which SQLite has no statement. */
async function addParent(queries: Parameters<ServiceMigration['up']>[0]): Promise<void> {
  const tables = await queries.introspection.getTables()
  const columns = tables.find(({ name }) => name === 'requests')?.columns ?? []
  if (columns.some(({ name }) => name === 'parent')) return
  await queries.schema.alterTable('requests').addColumn('parent', 'text').execute()
}

/** Columns of the list of requests, which earlier versions lack. */
const columns: ServiceMigration = {
  name: '0002-columns',
  async up(queries) {
    const texts = ['key_name', 'member_id', 'member_name', 'tier', 'tags', 'config_version'] as const
    // SQLite adds one column per statement.
    for (const name of texts) await queries.schema.alterTable('requests').addColumn(name, 'text').execute()
    await queries.schema.alterTable('requests').addColumn('ended', 'bigint').execute()
  },
}

const compared = [
  'type',
  'key_id',
  'member_id',
  'model',
  'provider',
  'protocol',
  'status',
  'result',
  'error',
  'stream',
  'tier',
  'cost_micros',
  'duration',
] as const

/**
 * One index has all columns that filters compare: a row takes one entry, at the end of it, where an index per column
 * would take a dozen, all over the file. PostgreSQL limits the size of an entry, so texts of clients and tags have
 * indexes of their own there.
 */
const indexes: ServiceMigration = {
  name: '0003-indexes',
  async up(queries, dialect) {
    const index = (name: string) => queries.schema.createIndex(`requests_${name}`).on('requests')
    const texts = dialect === 'sqlite' ? (['requested', 'tags'] as const) : []
    await index('list')
      .columns(['at', 'id', ...compared, ...texts])
      .execute()
    await index('ended').columns(['ended', 'id']).where('ended', 'is not', null).execute()
    await index('reference').column('reference').where('reference', 'is not', null).execute()
    if (dialect === 'sqlite') return
    const { sql } = await import('kysely')
    await index('requested').columns(['requested', 'at']).execute()
    const tags = sql`create index requests_tags on requests using gin ((tags::jsonb) jsonb_path_ops) where tags is not null`
    await tags.execute(queries)
  },
}

const captures: ServiceMigration = {
  name: '0006-captures',
  async up(queries) {
    await queries.schema
      .createTable('requests_captures')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('at', 'bigint', (column) => column.notNull())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .execute()
    await queries.schema.createIndex('requests_captures_at').on('requests_captures').column('at').execute()
  },
}

/** The newest rows of a pipeline are read for the times of its steps. */
const pipelines: ServiceMigration = {
  name: '0007-pipelines',
  async up(queries) {
    await queries.schema.alterTable('requests').addColumn('pipeline', 'text').execute()
    await queries.schema
      .createIndex('requests_pipeline_at')
      .on('requests')
      .columns(['pipeline', 'at'])
      .where('pipeline', 'is not', null)
      .execute()
  },
}

/**
 * Whether the routing block of a row has an answer of a judge. In JSON, a quotation mark within a text is escaped, so
 * this is the name of a member.
 */
export function judgedCondition(dialect: SqlDialect): string {
  const member = `'"judge":{'`
  return dialect === 'sqlite' ? `instr(metadata, ${member}) > 0` : `position(${member} in metadata) > 0`
}

/** Few requests are judged. They are read for exports, in the order of their start. */
const judged: ServiceMigration = {
  name: '0008-judged',
  async up(queries, dialect) {
    const { sql } = await import('kysely')
    const condition = sql.raw(judgedCondition(dialect))
    await sql`create index requests_judged on requests (at, id) where ${condition}`.execute(queries)
  },
}

/** Few requests are failed by a provider; somebody looks for them when one is down. */
const failedProviders: ServiceMigration = {
  name: '0010-failed-providers',
  async up(queries) {
    await queries.schema.alterTable('requests').addColumn('failed_providers', 'text').execute()
    const { sql } = await import('kysely')
    const index = sql`create index requests_failed_providers on requests (at, id) where failed_providers is not null`
    await index.execute(queries)
  },
}

/** Charges come to the ledger of budgets with the rows of their exchanges. */
const charges: ServiceMigration = {
  name: '0011-charges',
  async up(queries) {
    for (const name of ['charged_at', 'charged_micros', 'charged_overrun'])
      await queries.schema.alterTable('requests').addColumn(name, 'bigint').execute()
  },
}

/** Few requests belong to a trace, or all of them do: each has its own. */
const traces: ServiceMigration = {
  name: '0012-traces',
  async up(queries) {
    await queries.schema.alterTable('requests').addColumn('trace_id', 'text').execute()
    await queries.schema
      .createIndex('requests_trace_id')
      .on('requests')
      .column('trace_id')
      .where('trace_id', 'is not', null)
      .execute()
  },
}

/** Few requests are stopped or changed by a guard; somebody looks for them. */
const guarded: ServiceMigration = {
  name: '0013-guarded',
  async up(queries) {
    await queries.schema.alterTable('requests').addColumn('guarded', 'text').execute()
    const { sql } = await import('kysely')
    await sql`create index requests_guarded on requests (at, id) where guarded is not null`.execute(queries)
  },
}

export const migrations = [
  table,
  columns,
  indexes,
  ...sumsMigrations,
  captures,
  pipelines,
  judged,
  unsummedRows,
  failedProviders,
  charges,
  traces,
  guarded,
]
