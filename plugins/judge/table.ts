import type { ServiceMigration } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Tables {
    judging_verdicts: VerdictsTable
  }
}

/** A verdict of the judge beside the tier of the signals. */
export interface VerdictsTable {
  /** Id of the judge's exchange. */
  id: string
  /** Milliseconds since 1970. */
  at: number
  ensemble: string
  verdict: string
  /** 1: the verdict was only recorded. */
  shadow: number
}

export const migrations: readonly ServiceMigration[] = [
  {
    name: '1-verdicts',
    async up({ schema }) {
      await schema
        .createTable('judging_verdicts')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('at', 'bigint', (column) => column.notNull())
        .addColumn('ensemble', 'text', (column) => column.notNull())
        .addColumn('verdict', 'text', (column) => column.notNull())
        .addColumn('shadow', 'integer', (column) => column.notNull())
        .execute()
      await schema.createIndex('judging_verdicts_at').on('judging_verdicts').column('at').execute()
    },
  },
]
