import type { Generated, Selectable } from 'kysely'
import type { ServiceMigration, TableQueries } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    api_keys: ApiKeysTable
    api_keys_revoked: RevokedKeysTable
    api_keys_uses: KeyUsesTable
    api_keys_used: UsedKeysTable
  }
}

/** A living API key of the database. Times in milliseconds since 1970. */
export interface ApiKeysTable {
  id: string
  name: string
  /** SHA-256 of the key's text, in hex. */
  hash: string
  /** The last four characters of the key's text. */
  hint: string
  /** JSON list of the models that the key may use; null: all. */
  models: string | null
  created_at: number
  expires_at: number | null
  /** Set by processes of versions that kept revoked keys in this table. */
  revoked_at: number | null
  /** The name in lower case, unique. Null in rows of such versions, if another key has it. */
  folded: string | null
  /** Id of the member whose limits bind the key. */
  owner: string | null
  /** JSON objects, and a JSON list of names; null: none, none, all, none. */
  budget: string | null
  rate_limit: string | null
  mcp_servers: string | null
  tags: string | null
  /** JSON object of the limits that its owner may give it at most; null: those of the row. */
  granted: string | null
  /** 0, or 1 if an admin, 2 if its owner has disabled the key. */
  disabled: Generated<number>
  /** JSON object with the lists `on` and `off`; null: none. */
  guards: string | null
  /** 1: it may read metrics. */
  metrics: Generated<number>
  version: Generated<number>
  created_by: string | null
  updated_at: number | null
  rotated_at: number | null
  /** SHA-256 of the text before the last rotation, and the end of its grace. */
  previous_hash: string | null
  previous_until: number | null
}

/** A row of `api_keys`. */
export type KeyRow = Selectable<ApiKeysTable>

/** A revoked key, whose name is free again: rows of the request log go on to name it. */
export interface RevokedKeysTable extends Pick<
  ApiKeysTable,
  'id' | 'name' | 'hint' | 'owner' | 'models' | 'created_at' | 'expires_at'
> {
  revoked_at: number
}

/** Uses of keys, which are added to `api_keys_used` and removed in the transaction that writes them. */
export interface KeyUsesTable {
  key_id: string
  at: number
}

/** The last use of each key that was used, to half a minute. */
export interface UsedKeysTable {
  /** Id of a key of the database or of the file. */
  id: string
  at: number
}

/** Statements that run after every batch of `api_keys_uses`. */
export const noteLastUses = [
  `insert into api_keys_used (id, at) select key_id, max(at) from added group by key_id order by key_id
  on conflict (id) do update set at = excluded.at where excluded.at > api_keys_used.at`,
  'delete from api_keys_uses',
]

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-keys',
    // In databases of the first versions, the engine created the table.
    async up(queries) {
      await queries.schema
        .createTable('api_keys')
        .ifNotExists()
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', (column) => column.notNull().unique())
        .addColumn('hash', 'text', (column) => column.notNull().unique())
        .addColumn('hint', 'text', (column) => column.notNull())
        .addColumn('models', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint')
        .addColumn('revoked_at', 'bigint')
        .execute()
    },
  },
  {
    name: '2-fields',
    async up(queries) {
      for (const name of ['folded', 'owner', 'budget', 'rate_limit', 'mcp_servers', 'tags', 'created_by'])
        await queries.schema.alterTable('api_keys').addColumn(name, 'text').execute()
      for (const name of ['updated_at', 'rotated_at', 'previous_until'])
        await queries.schema.alterTable('api_keys').addColumn(name, 'bigint').execute()
      await queries.schema.alterTable('api_keys').addColumn('previous_hash', 'text').execute()
      for (const [name, value] of [
        ['disabled', 0],
        ['version', 1],
      ] as const)
        await queries.schema
          .alterTable('api_keys')
          .addColumn(name, 'bigint', (column) => column.notNull().defaultTo(value))
          .execute()
    },
  },
  {
    name: '3-uses',
    async up(queries) {
      await queries.schema
        .createTable('api_keys_uses')
        .addColumn('key_id', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('api_keys_uses_key', ['key_id', 'at'])
        .execute()
      await queries.schema
        .createTable('api_keys_used')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute()
    },
  },
  {
    name: '4-revoked',
    async up(queries) {
      await queries.schema
        .createTable('api_keys_revoked')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('hint', 'text', (column) => column.notNull())
        .addColumn('owner', 'text')
        .addColumn('models', 'text')
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint')
        .addColumn('revoked_at', 'bigint', (column) => column.notNull())
        .execute()
      await archiveRevoked(queries)
      await foldNames(queries)
      await queries.schema.createIndex('api_keys_folded').on('api_keys').column('folded').unique().execute()
    },
  },
  {
    name: '5-polled',
    // Every process asks twice a second whether these have changed.
    async up(queries) {
      await queries.schema.createIndex('api_keys_polled').on('api_keys').columns(['version', 'revoked_at']).execute()
    },
  },
  {
    name: '6-granted',
    async up(queries) {
      await queries.schema.alterTable('api_keys').addColumn('granted', 'text').execute()
    },
  },
  {
    name: '7-metrics',
    async up(queries) {
      await queries.schema
        .alterTable('api_keys')
        .addColumn('metrics', 'bigint', (column) => column.notNull().defaultTo(0))
        .execute()
    },
  },
  {
    name: '8-guards',
    async up(queries) {
      await queries.schema.alterTable('api_keys').addColumn('guards', 'text').execute()
    },
  },
]

const archived = ['id', 'name', 'hint', 'owner', 'models', 'created_at', 'expires_at', 'revoked_at'] as const

/** Moves revoked keys out of the table in which names are unique. */
export async function archiveRevoked(queries: TableQueries): Promise<void> {
  await queries
    .insertInto('api_keys_revoked')
    .columns(archived)
    .expression((from) =>
      from
        .selectFrom('api_keys')
        .select(archived)
        .$narrowType<{ revoked_at: number }>()
        .where('revoked_at', 'is not', null),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  await queries.deleteFrom('api_keys').where('revoked_at', 'is not', null).execute()
}

/** Fills in `folded`. Of names that differ only in case, the oldest key's is reserved. */
async function foldNames(queries: TableQueries): Promise<void> {
  const keys = await queries.selectFrom('api_keys').select(['id', 'name']).orderBy('created_at').orderBy('id').execute()
  const first = new Map(keys.toReversed().map(({ id, name }) => [foldedName(name), id]))
  for (const [folded, id] of first) await queries.updateTable('api_keys').set({ folded }).where('id', '=', id).execute()
}

/** The form of a name in which names are compared. */
export function foldedName(name: string): string {
  return name.toLowerCase()
}
