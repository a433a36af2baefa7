import type { Generated } from 'kysely'
import type { ServiceMigration } from '../../engine/index.ts'
import type { dimensions, Measure } from './sums.ts'

type Texts = Record<(typeof dimensions)[keyof typeof dimensions], string>

/** The times of a sum: its length and its start in milliseconds. */
interface OfTime {
  /** 1: the group is one of all keys. */
  whole: number
  grain: number
  at: number
  group_id: number
}

declare module '../../engine/index.ts' {
  interface Tables {
    /** Rows with the same values are added up together, and with those of all keys in the group `whole_id`. */
    requests_groups: Texts & { id: Generated<number>; whole_id: number | null }
    /** The last known names of keys and members, which may be deleted by now. */
    requests_names: { kind: 'key' | 'member'; id: string; name: string }
    requests_sums: OfTime & Record<Measure, number>
    /** Rows that are in no sum yet. */
    requests_unsummed: { id: string }
    /** How long exchanges took; see `latency.ts`. */
    requests_latencies: OfTime & { kind: number; block: number; [place: `n${number}`]: number }
  }
}

const tables: ServiceMigration = {
  name: '0004-sums',
  async up(queries, dialect) {
    const { sql } = await import('kysely')
    const id = dialect === 'sqlite' ? 'integer primary key' : 'bigserial primary key'
    // SQLite keeps the rows in the order of the key, in which they are read.
    const ordered = dialect === 'sqlite' ? ' without rowid' : ''
    const texts = 'key_id, member_id, model, provider, protocol, type'
    const time = 'whole smallint not null, grain bigint not null, at bigint not null, group_id bigint not null'
    const numbers = (names: string) => names.replaceAll(/\w+/g, '$& bigint not null default 0')
    const sums = `requests, completed, client_closed, refused, failed, status_1xx, status_2xx, status_3xx, status_4xx,
      status_5xx, unknown_cost, cost_micros, with_savings, savings_micros, input_tokens, cache_read_tokens,
      cache_write_tokens, output_tokens, reasoning_tokens`
    const counts = 'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, n12, n13, n14, n15'
    const statements = [
      'alter table requests add column savings_micros bigint',
      `create table requests_groups (id ${id}, ${texts.replaceAll(/\w+/g, '$& text not null')}, whole_id bigint, unique (${texts}))`,
      `create table requests_names (kind text not null, id text not null, name text not null, primary key (kind, id))${ordered}`,
      `create table requests_sums (${time}, ${numbers(sums)}, primary key (whole, grain, at, group_id))${ordered}`,
      `create table requests_latencies (${time}, kind smallint not null, block smallint not null, ${numbers(counts)},
        primary key (whole, grain, at, group_id, kind, block))${ordered}`,
    ]
    for (const statement of statements) await sql.raw(statement).execute(queries)
  },
}

/** Ids of rows of earlier versions, which are added up while the gateway serves: see `earlier-rows.ts`. */
const unsummed = 'create table if not exists requests_unsummed (id text primary key)'

const earlierRows: ServiceMigration = {
  name: '0005-sums-of-earlier-rows',
  async up(queries, dialect) {
    const { sql } = await import('kysely')
    // An older process waits, and the rows that it writes later are not added up.
    if (dialect === 'postgres') await sql`lock table requests in share row exclusive mode`.execute(queries)
    for (const statement of [unsummed, 'insert into requests_unsummed select id from requests order by id'])
      await sql.raw(statement).execute(queries)
  },
}

/** An earlier form of the migration added the rows up itself, and made no table. */
export const unsummedRows: ServiceMigration = {
  name: '0009-unsummed',
  async up(queries) {
    const { sql } = await import('kysely')
    await sql.raw(unsummed).execute(queries)
  },
}

export const sumsMigrations = [tables, earlierRows]
