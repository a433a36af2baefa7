import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    routing_records_labels: LabelsTable
    routing_records_prompts: PromptsTable
  }
}

/** What a person or an application says of a routing decision: the right model, too weak, stronger than needed. */
export type FeedbackSignal = 'ok' | 'weak' | 'strong'

/** The rating of a routed request. Times in milliseconds since 1970. */
export interface LabelsTable {
  /** Id of the request: it has one rating, whoever gives it. */
  id: string
  /** When the request began. */
  request_at: number
  /** When it was rated. */
  at: number
  signal: FeedbackSignal
  comment: string | null
  /** The member who rated it, or owns the key that did. */
  member_id: string | null
  /** 1 or 0: whether later decisions learn from it. */
  applied: number
}

/** The text that a request was routed by, sealed. */
export interface PromptsTable {
  /** Id of the request. */
  id: string
  /** When it began. */
  at: number
  /** 1: it is kept as long as the row of the request; 0: until the time for ratings is over. */
  kept: number
  /** Base64. */
  sealed: string
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-labels',
    async up(queries) {
      await queries.schema
        .createTable('routing_records_labels')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('request_at', 'bigint', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('signal', 'text', (column) => column.notNull())
        .addColumn('comment', 'text')
        .addColumn('member_id', 'text')
        .addColumn('applied', 'integer', (column) => column.notNull())
        .execute()
      const index = (name: string) => queries.schema.createIndex(name).on('routing_records_labels')
      await index('routing_records_labels_request_at').columns(['request_at', 'id']).execute()
      await index('routing_records_labels_member').columns(['member_id', 'at', 'id']).execute()
    },
  },
  {
    name: '2-prompts',
    async up(queries) {
      await queries.schema
        .createTable('routing_records_prompts')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('kept', 'integer', (column) => column.notNull())
        .addColumn('sealed', 'text', (column) => column.notNull())
        .execute()
      await queries.schema
        .createIndex('routing_records_prompts_kept')
        .on('routing_records_prompts')
        .columns(['kept', 'at'])
        .execute()
    },
  },
]
