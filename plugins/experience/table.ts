import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    experience_rewards: RewardsTable
    experience_pulls: PullsTable
    experience_spend: SpendTable
    experience_resets: ResetsTable
  }
}

/** A piece of evidence about the quality of a model. */
export interface RewardsTable {
  /** Id of the request that was routed. */
  decision: string
  /** `explicit…`: somebody rated the answer; `implicit…`: it follows from what happened. One row per decision each. */
  source: string
  /** When it was learned, in milliseconds since 1970. */
  at: number
  model: string
  mode: string
  tier: string
  /** From 0 to 1. */
  reward: number
  /** How many observations it counts as; 0: it came too late, and is not applied. */
  weight: number
  /** The API key of the request. */
  key_id: string | null
  /** Id of the conversation, and number of the user's turn in it; null: unknown, or somebody rated the answer. */
  conversation: string | null
  turn: number | null
  /** Hash of what was asked; empty: nothing was, in words; null: unknown, or somebody rated the answer. */
  ask: string | null
}

/** How often a model was chosen, over all processes. */
export interface PullsTable {
  model: string
  mode: string
  tier: string
  pulls: number
  /** Milliseconds since 1970. */
  updated_at: number
}

/** What routed requests were predicted to cost in an hour, over all processes. */
export interface SpendTable {
  /** Hours since 1970. */
  hour: number
  /** USD. */
  routed: number
  /** USD that trials and draws cost more than the best model by means. */
  extra: number
}

/** When experience was last forgotten. */
export interface ResetsTable {
  /** Name of a model; empty: all models. */
  model: string
  /** Milliseconds since 1970. */
  at: number
}

/** A row as it is read: PostgreSQL gives large integers as texts. */
export type BigInteger<R, K extends keyof R> = Omit<R, K> & Record<K, number | string>

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-rewards',
    async up(queries) {
      await queries.schema
        .createTable('experience_rewards')
        .addColumn('decision', 'text', (column) => column.notNull())
        .addColumn('source', 'text', (column) => column.notNull())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('mode', 'text', (column) => column.notNull())
        .addColumn('tier', 'text', (column) => column.notNull())
        .addColumn('reward', 'double precision', (column) => column.notNull())
        .addColumn('weight', 'double precision', (column) => column.notNull())
        .addColumn('key_id', 'text')
        .addPrimaryKeyConstraint('experience_rewards_primary', ['decision', 'source'])
        .execute()
      // Both what is new and what is old are read for each source.
      await queries.schema
        .createIndex('experience_rewards_at')
        .on('experience_rewards')
        .columns(['source', 'at'])
        .execute()
      await queries.schema
        .createTable('experience_pulls')
        .addColumn('model', 'text', (column) => column.notNull())
        .addColumn('mode', 'text', (column) => column.notNull())
        .addColumn('tier', 'text', (column) => column.notNull())
        .addColumn('pulls', 'bigint', (column) => column.notNull())
        .addColumn('updated_at', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('experience_pulls_primary', ['model', 'mode', 'tier'])
        .execute()
      await queries.schema
        .createTable('experience_spend')
        .addColumn('hour', 'integer', (column) => column.primaryKey())
        .addColumn('routed', 'double precision', (column) => column.notNull())
        .addColumn('extra', 'double precision', (column) => column.notNull())
        .execute()
      await queries.schema
        .createTable('experience_resets')
        .addColumn('model', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .execute()
    },
  },
  {
    name: '2-conversations',
    async up(queries) {
      await queries.schema.alterTable('experience_rewards').addColumn('conversation', 'text').execute()
      await queries.schema.alterTable('experience_rewards').addColumn('turn', 'integer').execute()
      // Requests that were no conversations were taken for questions that were asked again.
      await queries.deleteFrom('experience_rewards').where('source', '=', 'implicit:next_turn').execute()
    },
  },
  {
    name: '3-asks',
    async up(queries) {
      await queries.schema.alterTable('experience_rewards').addColumn('ask', 'text').execute()
    },
  },
]
