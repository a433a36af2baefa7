import { randomUUIDv7 } from 'node:crypto'
import { defineService } from '../../engine/index.ts'
import type { ServiceHost } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Services {
    processes: Processes
  }
  interface Tables {
    processes: ProcessesTable
  }
}

/** A process of this gateway. Times in milliseconds since 1970. */
export interface Process {
  readonly id: string
  readonly pid: number
  readonly startedAt: number
  /** Version of the configuration that it runs. */
  readonly configVersion: string
}

/** The processes that share the database. */
export interface Processes {
  /** The id of this process. */
  readonly own: string
  /** Every living process, oldest first. */
  list(): Promise<readonly Process[]>
  readonly dialect: ServiceHost['dialect']
  /** Bytes of the database; null: its server does not tell. */
  size(): Promise<number | null>
  /** Name of the newest migration of the engine's tables. */
  migration(): Promise<string | null>
  readonly masterSecret: ServiceHost['masterSecret']
}

interface ProcessesTable {
  id: string
  pid: number
  started_at: number
  config_version: string
  seen_at: number
}

/** Milliseconds between two signs of life, and until a process without any counts as gone. */
const beat = 5_000
const gone = 20_000

/** Knows the processes that share the database. */
export default defineService({
  name: 'processes',
  summary: 'The processes that share the database, and which configuration each runs.',
  migrations: [
    {
      name: '1-processes',
      async up(queries) {
        await queries.schema
          .createTable('processes')
          .addColumn('id', 'text', (column) => column.primaryKey())
          .addColumn('pid', 'integer', (column) => column.notNull())
          .addColumn('started_at', 'bigint', (column) => column.notNull())
          .addColumn('config_version', 'text', (column) => column.notNull())
          .addColumn('seen_at', 'bigint', (column) => column.notNull())
          .execute()
      },
    },
  ],
  open(host) {
    const own = randomUUIDv7()
    let version = ''
    const tell = () => {
      const now = Date.now()
      // Only ids, numbers and a hash stand in these statements, which need no query builder.
      const row = `'${own}', ${process.pid}, ${Math.round(performance.timeOrigin)}, '${version}', ${now}`
      const rest = 'on conflict (id) do update set config_version = excluded.config_version, seen_at = excluded.seen_at'
      return host.rows(`insert into processes values (${row}) ${rest} returning id`)
    }
    const trouble = (error: unknown) => host.log.debug({ err: error }, 'a sign of life could not be written')
    const view: Processes = {
      own,
      dialect: host.dialect,
      masterSecret: host.masterSecret,
      async list() {
        await tell()
        const alive = await host.rows<ProcessesTable>(
          `select * from processes where seen_at > ${Date.now() - gone} order by started_at, id`,
        )
        return alive.map((row) => ({
          id: row.id,
          pid: row.pid,
          startedAt: row.started_at,
          configVersion: row.config_version,
        }))
      },
      async size() {
        const [row] = await host.rows<{ readonly bytes: number }>(sizes[host.dialect])
        return row === undefined ? null : row.bytes
      },
      async migration() {
        const [row] = await host.rows<{ readonly name: string }>(
          'select name from kysely_migration order by name desc limit 1',
        )
        return row?.name ?? null
      },
    }
    const beating = setInterval(() => void tell().catch(trouble), beat).unref()
    const tidying = setInterval(
      () => void host.rows(`delete from processes where seen_at < ${Date.now() - gone} returning id`).catch(trouble),
      gone,
    ).unref()
    return {
      configure: (_settings, _services, configuration) => ({
        view,
        live() {
          version = configuration.version.replaceAll(/[^\w.+-]/g, '')
          void tell().catch(trouble)
        },
      }),
      async close() {
        clearInterval(beating)
        clearInterval(tidying)
        await host.rows(`delete from processes where id = '${own}' returning id`).catch(trouble)
      },
    }
  },
})

const sizes = {
  sqlite: 'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()',
  postgres: 'select pg_database_size(current_database()) as bytes',
}
