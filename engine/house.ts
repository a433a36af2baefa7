import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { printDiagnostic } from './config/diagnostics.ts'
import type { Diagnostic } from './config/diagnostics.ts'
import type { Environment } from './config/interpolate.ts'
import type { Settings } from './config/settings.ts'
import { drain } from './http/drain.ts'
import { createHttpServer } from './http/server.ts'
import { Keep } from './live/keep.ts'
import { Live } from './live/live.ts'
import type { HouseServices } from './live/services.ts'
import type { Snapshot } from './live/snapshot.ts'
import { watchConfiguration } from './live/watch.ts'
import { openDatabase } from './store/database.ts'
import type { Database } from './store/database.ts'
import { ApiKeys } from './store/keys.ts'
import { LogQueue } from './store/log-queue.ts'
import type { Secrets } from './store/redaction.ts'
import { productVersion } from './version.ts'
import { WorkerPool } from './workers/pool.ts'

export interface HouseOptions {
  /** The configuration file. */
  readonly file: string
  /** Folder that relative paths in it start from; default: the working directory. */
  readonly root?: string
  readonly environment: Environment
  readonly log: Logger
  readonly secrets: Secrets
  /** Reload when a file of the configuration changes. */
  readonly watch?: boolean
  /** Refuse stages that give anything but what they provide; for tests. */
  readonly strict?: boolean
}

/** A gateway that serves. */
export interface House {
  readonly address: AddressInfo
  readonly live: Live
  readonly keys: ApiKeys
  readonly database: Database
  /** Resolves once every row of the request log so far is in the database. */
  flush(): Promise<void>
  /** Lets what is under way finish, for at most `deadline` milliseconds, then closes everything. */
  close(deadline?: number): Promise<void>
}

/** The configuration was refused; the findings are all of them. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(printDiagnostic).join('\n'))
    this.diagnostics = diagnostics
  }
}

/** Milliseconds after which keys that other processes made, changed or revoked are known here. */
const keyPoll = 5_000

/** What is opened with the first configuration and lives as long as the process. */
interface Stores {
  readonly url: string
  readonly database: Database
  readonly keys: ApiKeys
  readonly rows: LogQueue
}

/** Opens the stores, loads the configuration and serves it. Rejects with `ConfigurationError` or `StartError`. */
export async function openHouse(options: HouseOptions): Promise<House> {
  const { log, secrets } = options
  const keep = new Keep()
  const pool = new WorkerPool({ onError: (error) => log.error({ err: error }, 'a worker thread failed') })
  let stores: Stores | undefined
  let draining = false
  const services: HouseServices = {
    log,
    async keysFor(settings) {
      stores ??= await openStores(settings, options)
      if (stores.url !== settings.database.url) throw new Error('another database takes a restart')
      const problems = stores.keys.problems(declared(settings))
      if (problems.length > 0) throw new Error(problems.join('; '))
      return stores.keys
    },
    protect: (values) => values.forEach((value) => secrets.protect(value)),
    scrub: (text) => secrets.scrub(text),
    record: (row) => stores?.rows.write(row),
    work: (module, input, deadline) => pool.run(module, input, deadline),
    keep: keep.get,
    status: {
      get draining() {
        return draining
      },
      get degraded() {
        return stores?.rows.counters.failing === undefined ? [] : ['request_log']
      },
    },
    version: productVersion(),
  }
  const closeStores = async () => {
    await stores?.rows.close()
    await stores?.database.close()
    await keep.close()
    await pool.close()
  }
  try {
    const started = await Live.start({
      file: options.file,
      ...(options.root === undefined ? {} : { root: options.root }),
      environment: options.environment,
      house: services,
      strict: options.strict ?? false,
      onSwap: (snapshot) => adopt(snapshot, stores, log),
    })
    if ('diagnostics' in started) throw new ConfigurationError(started.diagnostics)
    const { live } = started
    if (!stores) throw new Error('the configuration went live without its stores')
    const server = createHttpServer({ live, log, draining: () => draining })
    const address = await listen(server, live.current.settings)
    const unwatch = options.watch ? watchConfiguration(live, log) : () => undefined
    const { keys, database, rows } = stores
    const polling = setInterval(
      () => keys.refresh().catch((error: unknown) => log.warn({ err: error }, 'the API keys cannot be read again')),
      keyPoll,
    ).unref()
    return {
      address,
      live,
      keys,
      database,
      flush: () => rows.flush(),
      async close(deadline = 30_000) {
        draining = true
        unwatch()
        clearInterval(polling)
        await drain(server, deadline)
        await live.close()
        await closeStores()
      },
    }
  } catch (error) {
    await closeStores()
    throw error
  }
}

async function openStores({ database: { url } }: Settings, { log, secrets }: HouseOptions): Promise<Stores> {
  secrets.protectUrl(url)
  const database = await openDatabase(url)
  const keys = new ApiKeys(database)
  await keys.refresh()
  return { url, database, keys, rows: new LogQueue({ url, log }) }
}

/** What a configuration changes in the house when it goes live. */
function adopt({ settings }: Snapshot, stores: Stores | undefined, log: Logger): void {
  stores?.keys.declare(declared(settings))
  log.level = settings.server_config.logging.level
}

function declared({ api_keys: keys }: Settings) {
  return keys.map(({ name, key, models, expires_at: expires }) => ({
    name,
    key,
    ...(models === undefined ? {} : { models }),
    ...(expires === undefined ? {} : { expiresAt: Date.parse(expires) }),
  }))
}

function listen(server: Server, { listen: { host, port } }: Settings): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}
