import { dirname, join, resolve } from 'node:path'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Environment } from '../config/interpolate.ts'
import type { Settings } from '../config/settings.ts'
import type { Path } from '../config/diagnostics.ts'
import { openDatabase } from './database.ts'
import type { Database } from './database.ts'
import type { OpenJobs } from './jobs.ts'
import type { OpenKeyValue } from './key-value.ts'
import { RecordStore } from './records.ts'
import { locationOf } from '../config/location.ts'
import type { Secrets } from '../secrets/redaction.ts'
import { Rows } from './rows.ts'
import { openSealing } from '../secrets/sealing.ts'
import type { Sealing } from '../secrets/sealing.ts'

/** Stores that are opened with the first configuration and live as long as the process. */
export interface Stores {
  /** The settings with which they were opened. */
  readonly settings: Settings
  readonly database: Database
  /** Rows that are written in bulk. */
  readonly rows: Rows
  readonly records: RecordStore
  readonly keyValue: OpenKeyValue
  /** Absent without a configured key-value store. */
  readonly jobs?: OpenJobs
  /** Opens a further connection to the key-value store; absent: none is configured. */
  readonly connectRedis?: () => Promise<Redis>
  readonly sealing: Sealing
  /** Absolute path of the folder for the gateway's own files. */
  readonly folder: string
  /** What is degraded: `key_value`, or `master_secret` if the gateway has another one. */
  readonly degraded: readonly string[]
  /** Writes the last rows, then closes all stores. */
  close(): Promise<void>
}

/** Further options for opening the stores. */
export interface StoreOptions {
  /** The folder to which relative paths refer. */
  readonly root?: string
  readonly environment: Environment
  readonly log: Logger
  readonly secrets: Secrets
}

/** Opens the stores. Rejects with a `StartError`; an unavailable key-value store is not an error. */
export async function openStores(settings: Settings, options: StoreOptions): Promise<Stores> {
  const { log, secrets } = options
  const { url } = settings.database
  const shared = settings.key_value?.url
  secrets.protectUrl(url)
  if (shared !== undefined) secrets.protectUrl(shared)
  const sealing = sealingOf(settings, options)
  // Closes the open stores in reverse order, even if some fail; here only if not all can be opened.
  await using opened = new AsyncDisposableStack()
  const database = opened.adopt(await openDatabase(url), close)
  const folder = dataFolder(url, options.root)
  const rows = opened.adopt(new Rows({ url, log, spill: join(folder, 'spill') }), close)
  const opening = [
    openKeyValue(shared, database, log).then((store) => opened.adopt(store, close)),
    openQueue(shared, log).then((queue) => queue && opened.adopt(queue, close)),
  ] as const
  // No store may open after the others were closed.
  await Promise.allSettled(opening)
  const [keyValue, jobs] = await Promise.all(opening)
  const closing = opened.move()
  return {
    settings,
    database,
    rows,
    records: new RecordStore(database, sealing),
    keyValue,
    sealing,
    folder,
    get degraded() {
      return [...(keyValue.failing ? ['key_value'] : []), ...(sealing.isOutdated() ? ['master_secret'] : [])]
    },
    close: () => closing.disposeAsync(),
    ...(jobs ? { jobs } : {}),
    ...(shared === undefined ? {} : { connectRedis: () => connectRedis(shared) }),
  }
}

function close(store: { close(): Promise<void> }): Promise<void> {
  return store.close()
}

/** Sealing with the secret from the environment, or else from the file. */
function sealingOf(
  { database, key_value: shared }: Settings,
  { root, environment, log, secrets }: StoreOptions,
): Sealing {
  const given = environment['SLUICE_SECRET'] || undefined
  if (given === undefined && (shared || locationOf(database.url).dialect !== 'sqlite'))
    log.warn('SLUICE_SECRET is not set: gateways on other machines cannot open what this one seals')
  return openSealing({
    given,
    variable: environment['SLUICE_SECRET_FILE'] ? 'the file that SLUICE_SECRET_FILE names' : 'SLUICE_SECRET',
    file: join(dataFolder(database.url, root), 'secret'),
    protect: (secret) => secrets.protect(secret),
    log,
  })
}

/** Opens the key-value store at `url` (`redis://…`, `rediss://…`), or without a URL the one in the database. */
export async function openKeyValue(url: string | undefined, database: Database, log: Logger): Promise<OpenKeyValue> {
  if (url === undefined) {
    const { openDatabaseKeyValue } = await import('./key-value-database.ts')
    return openDatabaseKeyValue(database, log)
  }
  const { openRedisKeyValue } = await import('./key-value-redis.ts')
  return openRedisKeyValue(url, log)
}

async function connectRedis(url: string): Promise<Redis> {
  return (await import('./key-value-redis.ts')).connectRedis(url)
}

/** Loaded on demand: the queue and its driver are large, and only a shared key-value store has jobs. */
async function openQueue(url: string | undefined, log: Logger): Promise<OpenJobs | undefined> {
  if (url === undefined) return undefined
  const { openJobs } = await import('./jobs.ts')
  return openJobs(url, log)
}

/** Changed settings that need a restart. */
export function changedForGood(before: Settings, after: Settings): Path[] {
  const listening = (['host', 'port', 'workers'] as const).filter(
    (field) => before.listen[field] !== after.listen[field],
  )
  const times = (['headers', 'body_silence', 'body', 'unread'] as const).filter(
    (field) => before.client_timeouts[field] !== after.client_timeouts[field],
  )
  return [
    ...listening.map((field) => ['listen', field]),
    ...times.map((field) => ['client_timeouts', field]),
    ...(before.database.url === after.database.url ? [] : [['database', 'url']]),
    ...(before.key_value?.url === after.key_value?.url ? [] : [['key_value', 'url']]),
  ]
}

/** The folder for the gateway's own files: next to the SQLite file; otherwise `data`. */
export function dataFolder(url: string, root = '.'): string {
  const place = locationOf(url)
  return place.dialect === 'sqlite' ? dirname(resolve(place.path)) : resolve(root, 'data')
}
