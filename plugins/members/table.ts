import { randomUUID } from 'node:crypto'
import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    members: MembersTable
    members_ended: EndedSessionsTable
    members_places: MembersPlacesTable
    members_state: MembersStateTable
  }
}

/** A member. Times in milliseconds since 1970; flags are 1 or 0. */
export interface MembersTable {
  id: string
  /** In lower case. */
  username: string
  role: 'admin' | 'viewer'
  disabled: number
  must_change_password: number
  /** JSON list of the models that the member's keys may use; null: all. */
  models: string | null
  /** JSON of a budget; null: none. */
  budget: string | null
  /** JSON of a rate limit; null: none. */
  rate_limit: string | null
  tracing: number
  /** Hash of the password in the PHC string format. */
  password: string
  /** Sessions with another version have ended. */
  session_version: number
  /** Starts at 1; changes with every change of the record. */
  version: number
  created_at: number
  last_login_at: number | null
}

/** A token, or all tokens of a session, that ended before they expired. Times in milliseconds since 1970. */
export interface EndedSessionsTable {
  /** The id of the token (`jti`), or the part of it that all tokens of the session share (`chainOf`). */
  session: string
  ended_at: number
  /** When all these tokens have expired, and this row is of no use any more. */
  expires_at: number
}

/** Where a name has proved its identity. */
export interface MembersPlacesTable {
  /** SHA-256, in hex, of the name and the network. */
  place: string
  /** The last time, in milliseconds since 1970. */
  at: number
}

/** The only row. Every change of members and sessions updates it first, so that changes wait for one another. */
export interface MembersStateTable {
  /** The id of the database, of which the setup token is made. */
  instance: string
  /** The number of changes so far. */
  revision: number
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-members',
    async up(queries) {
      await queries.schema
        .createTable('members')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('username', 'text', (column) => column.notNull().unique())
        .addColumn('role', 'text', (column) => column.notNull())
        .addColumn('disabled', 'integer', (column) => column.notNull())
        .addColumn('must_change_password', 'integer', (column) => column.notNull())
        .addColumn('models', 'text')
        .addColumn('budget', 'text')
        .addColumn('rate_limit', 'text')
        .addColumn('tracing', 'integer', (column) => column.notNull())
        .addColumn('password', 'text', (column) => column.notNull())
        .addColumn('session_version', 'bigint', (column) => column.notNull())
        .addColumn('version', 'bigint', (column) => column.notNull())
        .addColumn('created_at', 'bigint', (column) => column.notNull())
        .addColumn('last_login_at', 'bigint')
        .execute()
      await queries.schema
        .createTable('members_ended')
        .addColumn('session', 'text', (column) => column.primaryKey())
        .addColumn('ended_at', 'bigint', (column) => column.notNull())
        .addColumn('expires_at', 'bigint', (column) => column.notNull())
        .execute()
      await queries.schema
        .createTable('members_state')
        .addColumn('instance', 'text', (column) => column.notNull())
        .addColumn('revision', 'bigint', (column) => column.notNull())
        .execute()
      await queries.insertInto('members_state').values({ instance: randomUUID(), revision: 0 }).execute()
    },
  },
  {
    name: '2-places',
    async up(queries) {
      await queries.schema
        .createTable('members_places')
        .addColumn('place', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute()
    },
  },
]
