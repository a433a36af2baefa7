import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    audit: AuditTable
    audit_keys: AuditKeysTable
    audit_marks: AuditMarksTable
  }
}

/** A row of the audit trail. The columns before `body` repeat it for filters. */
export interface AuditTable {
  /** 1, 2, 3 and so on, without gaps. */
  sequence: number
  /** Milliseconds since 1970. */
  at: number
  actor_id: string | null
  action: string
  target_type: string | null
  target_id: string | null
  outcome: string
  /** The row as canonical JSON (RFC 8785), without `previous` and `hash`. */
  body: string
  /** Hash of the row before; 64 zeros for the first one. */
  previous: string
  hash: string
}

/** What is stored beside each row: its mac, which only the gateway can compute, and a further column for filters. */
export interface AuditMarksTable {
  sequence: number
  /** The mac of the row's checkpoint. */
  mac: string
  target_name: string | null
}

/** Keys of earlier master secrets. */
interface AuditKeysTable {
  /** The last row whose checkpoint was signed with the key. */
  sequence: number
  /** The key, sealed and in base64. */
  key: string
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-rows',
    async up({ schema }) {
      await schema
        .createTable('audit')
        .addColumn('sequence', 'integer', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('actor_id', 'text')
        .addColumn('action', 'text', (column) => column.notNull())
        .addColumn('target_type', 'text')
        .addColumn('target_id', 'text')
        .addColumn('outcome', 'text', (column) => column.notNull())
        .addColumn('body', 'text', (column) => column.notNull())
        .addColumn('previous', 'text', (column) => column.notNull())
        .addColumn('hash', 'text', (column) => column.notNull())
        .execute()
      await schema
        .createTable('audit_marks')
        .addColumn('sequence', 'integer', (column) => column.primaryKey())
        .addColumn('mac', 'text', (column) => column.notNull())
        .addColumn('target_name', 'text')
        .execute()
      for (const column of ['at', 'actor_id', 'action', 'target_id'] as const)
        await schema.createIndex(`audit_${column}`).on('audit').columns([column, 'sequence']).execute()
      await schema.createIndex('audit_marks_target_name').on('audit_marks').column('target_name').execute()
    },
  },
  {
    name: '2-keys',
    async up({ schema }) {
      await schema
        .createTable('audit_keys')
        .addColumn('sequence', 'integer', (column) => column.primaryKey())
        .addColumn('key', 'text', (column) => column.notNull())
        .execute()
    },
  },
]
