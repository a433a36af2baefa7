import type { ServiceMigration } from '../../engine/index.ts'

/** A cause that was said and lasts. Times in milliseconds since 1970. */
export interface OpenTable {
  id: string
  /** Who says it: a process by its name; empty: whichever process holds the lease. */
  speaker: string
  cause: string
  key: string
  subject: string
  /** JSON object. */
  facts: string
  path: string
  since: number
  said_at: number
}

/** What was said. */
export interface SentTable {
  id: string
  at: number
  /** The notice, as JSON. */
  notice: string
}

/** One notice for one target. */
export interface DeliveriesTable {
  message: string
  target: string
  at: number
  state: 'waiting' | 'delivered' | 'given_up'
  attempts: number
  /** Of the last answer; null: there was none. */
  status: number | null
}

export interface TargetsTable {
  name: string
  /** A digest of the address that this is said of; null: it is older than digests. */
  address: string | null
  /** Since when nothing was delivered that was tried; null: the last one was delivered. */
  failing_since: number | null
  tried_at: number
  problem: string | null
}

/** What each process that shares the database sees. */
export interface ProcessesTable {
  id: string
  seen_at: number
  /** Base64 of JSON. */
  causes: string
}

declare module '../../engine/index.ts' {
  interface Tables {
    notifications_open: OpenTable
    notifications_sent: SentTable
    notifications_deliveries: DeliveriesTable
    notifications_targets: TargetsTable
    notifications_processes: ProcessesTable
  }
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '0001-notifications',
    async up({ schema }) {
      await schema
        .createTable('notifications_open')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('speaker', 'text', (column) => column.notNull())
        .addColumn('cause', 'text', (column) => column.notNull())
        .addColumn('key', 'text', (column) => column.notNull())
        .addColumn('subject', 'text', (column) => column.notNull())
        .addColumn('facts', 'text', (column) => column.notNull())
        .addColumn('path', 'text', (column) => column.notNull())
        .addColumn('since', 'bigint', (column) => column.notNull())
        .addColumn('said_at', 'bigint', (column) => column.notNull())
        .execute()
      await schema
        .createTable('notifications_sent')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('notice', 'text', (column) => column.notNull())
        .execute()
      await schema
        .createTable('notifications_deliveries')
        .addColumn('message', 'text', (column) => column.notNull())
        .addColumn('target', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('state', 'text', (column) => column.notNull())
        .addColumn('attempts', 'integer', (column) => column.notNull())
        .addColumn('status', 'integer')
        .addPrimaryKeyConstraint('notifications_deliveries_key', ['message', 'target'])
        .execute()
      await schema
        .createTable('notifications_targets')
        .addColumn('name', 'text', (column) => column.primaryKey())
        .addColumn('failing_since', 'bigint')
        .addColumn('tried_at', 'bigint', (column) => column.notNull())
        .addColumn('problem', 'text')
        .execute()
      await schema
        .createTable('notifications_processes')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('seen_at', 'bigint', (column) => column.notNull())
        .addColumn('causes', 'text', (column) => column.notNull())
        .execute()
    },
  },
  {
    name: '0002-addresses-of-targets',
    async up({ schema }) {
      await schema.alterTable('notifications_targets').addColumn('address', 'text').execute()
    },
  },
]
