import type { Logger } from 'pino'
import type { Database } from './connect.ts'
import type { OpenKeyValue } from './key-value.ts'

/** Opens the key-value store at `url` (`redis://…`, `rediss://…`), or without a URL the one in the database. */
export async function openKeyValue(url: string | undefined, database: Database, log: Logger): Promise<OpenKeyValue> {
  if (url === undefined) {
    const { openDatabaseKeyValue } = await import('./key-value-database.ts')
    return openDatabaseKeyValue(database, log)
  }
  const { openRedisKeyValue } = await import('./key-value-redis.ts')
  return openRedisKeyValue(url, log)
}
