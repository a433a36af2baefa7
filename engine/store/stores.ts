import { dirname, join, resolve } from 'node:path'
import type { Logger } from 'pino'
import type { Environment } from '../config/interpolate.ts'
import type { Settings } from '../config/settings.ts'
import type { Path } from '../config/source.ts'
import { openDatabase } from './database.ts'
import type { Database } from './database.ts'
import type { OpenJobs } from './jobs.ts'
import { openKeyValue } from './key-value.ts'
import type { OpenKeyValue } from './key-value.ts'
import { ApiKeys } from './keys.ts'
import { LogQueue } from './log-queue.ts'
import { placeOf } from './place.ts'
import type { Secrets } from './redaction.ts'
import { openSealing } from './sealing.ts'
import type { Sealing } from './sealing.ts'

/** What is opened with the first configuration and lives as long as the process. */
export interface Stores {
  /** The settings that it was opened with. */
  readonly settings: Settings
  readonly database: Database
  readonly keys: ApiKeys
  readonly rows: LogQueue
  readonly keyValue: OpenKeyValue
  /** Absent without a configured key-value store. */
  readonly jobs?: OpenJobs
  readonly sealing: Sealing
  /** Writes the last log rows, then closes everything. */
  close(): Promise<void>
}

/** What the stores are opened with, beside the settings. */
export interface StoreOptions {
  /** Folder that relative paths start from. */
  readonly root?: string
  readonly environment: Environment
  readonly log: Logger
  readonly secrets: Secrets
}

/** Opens the stores. Rejects with a `StartError`; a key-value store that is out of reach is none. */
export async function openStores(settings: Settings, options: StoreOptions): Promise<Stores> {
  const { log, secrets } = options
  const { url } = settings.database
  secrets.protectUrl(url)
  if (settings.key_value) secrets.protectUrl(settings.key_value.url)
  const sealing = openSealing({
    given: options.environment['SLUICE_SECRET'] || undefined,
    file: secretFile(url, options.root),
    protect: (secret) => secrets.protect(secret),
  })
  const database = await openDatabase(url)
  try {
    const keys: ApiKeys = new ApiKeys(database, { onStranger: () => refreshKeys(keys, log) })
    const [keyValue, jobs] = await Promise.all([
      openKeyValue(settings.key_value?.url, database, log),
      openQueue(settings.key_value?.url, log),
      keys.refresh(),
    ])
    const rows = new LogQueue({ url, log })
    const close = async () => {
      await jobs?.close()
      await rows.close().finally(() => keyValue.close().finally(() => database.close()))
    }
    return { settings, database, keys, rows, keyValue, sealing, close, ...(jobs ? { jobs } : {}) }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The queue and its driver are large, and only a shared key-value store has jobs. */
async function openQueue(url: string | undefined, log: Logger): Promise<OpenJobs | undefined> {
  if (url === undefined) return undefined
  const { openJobs } = await import('./jobs.ts')
  return openJobs(url, log)
}

/** Reads the keys of the database again; a failure is logged. */
export function refreshKeys(keys: ApiKeys, log: Logger): void {
  keys.refresh().catch((error: unknown) => log.warn({ err: error }, 'the API keys cannot be read again'))
}

/** Settings that a running process cannot take over. */
export function changedForGood(before: Settings, after: Settings): Path[] {
  const listening = (['host', 'port', 'workers'] as const).filter(
    (field) => before.listen[field] !== after.listen[field],
  )
  return [
    ...listening.map((field) => ['listen', field]),
    ...(before.database.url === after.database.url ? [] : [['database', 'url']]),
    ...(before.key_value?.url === after.key_value?.url ? [] : [['key_value', 'url']]),
  ]
}

/** Beside the SQLite file; where the database is no file, in `data`. */
function secretFile(url: string, root = '.'): string {
  const place = placeOf(url)
  return place.dialect === 'sqlite' ? join(dirname(resolve(place.path)), 'secret') : resolve(root, 'data', 'secret')
}
