import { access } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseEnv } from 'node:util'
import type { CommandOutput, Services } from '../../engine/index.ts'
import type { Report } from './report.ts'
import { textAt } from './write.ts'

/** A key for the database of the gateway. */
export type TakenKey = Parameters<Services['api_keys']['take']>[0][number]

/** The database of the gateway in a folder. */
export async function targetOf(folder: string, { environment }: CommandOutput): Promise<string> {
  const own = parseEnv((await textAt(join(folder, '.env'))) ?? '')
  const given = environment['DATABASE_URL'] || own['DATABASE_URL'] || 'sqlite:data/sluice.db'
  // The gateway will run in the folder.
  return given.replace(/^sqlite:(?!:)(.+)$/s, (_all, path: string) => `sqlite:${resolve(folder, path)}`)
}

/** Tells what storing the keys would do. */
export async function foresee(target: string, keys: readonly TakenKey[], report: Report): Promise<void> {
  const known = await knownHashes(target)
  const fresh = new Set(keys.map(({ hash }) => hash).filter((hash) => !known.has(hash)))
  report.keys.imported += fresh.size
  report.keys.skipped += keys.length - fresh.size
}

/** The hashes of keys in the database of the gateway, which is only read. */
async function knownHashes(target: string): Promise<ReadonlySet<string>> {
  const query = 'select hash, previous_hash from api_keys'
  const hashesIn = (rows: readonly unknown[]) =>
    new Set(
      (rows as { hash: string; previous_hash: string | null }[]).flatMap((row) => [row.hash, row.previous_hash ?? '']),
    )
  if (target.startsWith('sqlite:')) {
    const path = target.slice('sqlite:'.length)
    const isThere = await access(path).then(
      () => true,
      () => false,
    )
    if (!isThere) return new Set()
    const { default: Sqlite } = await import('better-sqlite3')
    const file = new Sqlite(path, { readonly: true })
    try {
      const [table] = file.prepare("select 1 from sqlite_master where name = 'api_keys'").all()
      return table === undefined ? new Set() : hashesIn(file.prepare(query).all())
    } finally {
      file.close()
    }
  }
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: target, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    const { rows: tables } = await client.query<{ found: string | null }>(
      "select to_regclass('api_keys')::text as found",
    )
    return tables[0]?.found ? hashesIn((await client.query(query)).rows) : new Set()
  } finally {
    await client.end()
  }
}

/** Where keys go, and who hears of it. */
interface Storing {
  readonly folder: string
  readonly report: Report
  readonly output: CommandOutput
}

/** Stores the keys in the database of the gateway. */
export async function storeKeys(
  target: string,
  keys: readonly TakenKey[],
  { folder, report, output }: Storing,
): Promise<void> {
  if (keys.length === 0) return
  const taken = await output.inFolder(
    folder,
    ['api_keys', 'limits'],
    ({ api_keys: own, limits }) =>
      own.take(keys, async (transaction, { id, spent }) => {
        if (spent) await limits.spentElsewhere({ kind: 'key', id }, spent, transaction)
      }),
    { DATABASE_URL: target },
  )
  report.keys.imported += taken.imported.length
  report.keys.skipped += taken.skipped
  for (const { name, why } of taken.lost) {
    report.keys.lost.push(name)
    report.lost({ file: 'database', line: 0, path: `keys[${name}]` }, why, 'client')
  }
}
