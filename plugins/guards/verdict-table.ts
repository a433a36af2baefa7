import type { ServiceMigration } from '../../engine/index.ts'

/** Sums of verdicts. */
interface VerdictsTable {
  /** `2026-11-27`, in UTC. */
  day: string
  guard: string
  side: string
  /** 1: it changed nothing. */
  shadow: number
  outcome: string
  verdicts: number
  /** Time of all of them, and of the longest. */
  microseconds: number
  most_microseconds: number
}

/** How long judgements took: how many there are in each bucket of time. */
interface TimesTable {
  day: string
  guard: string
  side: string
  shadow: number
  /** Number of the bucket: it ends at 2^(bucket / 4) microseconds. */
  bucket: number
  verdicts: number
}

declare module '../../engine/index.ts' {
  interface Tables {
    guards_verdicts: VerdictsTable
    guards_times: TimesTable
  }
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '0001-verdicts',
    async up(queries) {
      await queries.schema
        .createTable('guards_verdicts')
        .addColumn('day', 'text', (column) => column.notNull())
        .addColumn('guard', 'text', (column) => column.notNull())
        .addColumn('side', 'text', (column) => column.notNull())
        .addColumn('shadow', 'integer', (column) => column.notNull())
        .addColumn('outcome', 'text', (column) => column.notNull())
        .addColumn('verdicts', 'bigint', (column) => column.notNull())
        .addColumn('microseconds', 'bigint', (column) => column.notNull())
        .addColumn('most_microseconds', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('guards_verdicts_key', ['day', 'guard', 'side', 'shadow', 'outcome'])
        .execute()
    },
  },
  {
    name: '0002-times',
    async up(queries) {
      await queries.schema
        .createTable('guards_times')
        .addColumn('day', 'text', (column) => column.notNull())
        .addColumn('guard', 'text', (column) => column.notNull())
        .addColumn('side', 'text', (column) => column.notNull())
        .addColumn('shadow', 'integer', (column) => column.notNull())
        .addColumn('bucket', 'integer', (column) => column.notNull())
        .addColumn('verdicts', 'bigint', (column) => column.notNull())
        .addPrimaryKeyConstraint('guards_times_key', ['day', 'guard', 'side', 'shadow', 'bucket'])
        .execute()
    },
  },
]
