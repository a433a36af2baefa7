import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { printDiagnostic } from './config/diagnostics.ts'
import type { Diagnostic } from './config/diagnostics.ts'
import type { Environment } from './config/interpolate.ts'
import type { Settings } from './config/settings.ts'
import type { Shipped } from './config/shipped.ts'
import { within } from './services/within.ts'
import { clientTimes, connectionTimes, httpLimits } from './config/limits.ts'
import type { HttpLimits } from './config/limits.ts'
import { GatewayError } from './spec/error.ts'
import { setLevel } from './telling/log.ts'
import { byteBudgetOf } from './stream/byte-budget.ts'
import { createHttpServer } from './http/server.ts'
import type { HttpServer } from './http/server.ts'
import { Sockets } from './sockets/socket.ts'
import { Spool } from './http/spool.ts'
import { allServe, firstProcess } from './live/first-process.ts'
import { recordPoll } from './live/following.ts'
import { jobRunner } from './live/job-runner.ts'
import { Keep } from './services/keep.ts'
import { Live } from './live/live.ts'
import { serviceHost } from './live/gateway-host.ts'
import type { GatewayHost } from './live/gateway-host.ts'
import { OpenServices } from './services/services.ts'
import { Warmth } from './services/warmth.ts'
import { watchConfiguration } from './live/watch.ts'
import { StartError } from './store/database.ts'
import type { Database } from './store/database.ts'
import { migrateService } from './store/migrate-service.ts'
import type { Secrets } from './secrets/redaction.ts'
import { changedForGood, dataFolder, openStores } from './store/stores.ts'
import type { Stores } from './store/stores.ts'
import { productVersion } from './version.ts'
import { WorkerPool } from './workers/pool.ts'

export interface GatewayOptions {
  /** The configuration file. */
  readonly file: string
  /** The folder to which relative paths in it refer; default: the working directory. */
  readonly root?: string
  readonly environment: Environment
  /** Plugins and pipelines available without configuration; default: those of the product. */
  readonly shipped?: Shipped
  readonly log: Logger
  readonly secrets: Secrets
  /** Whether to reload when a file of the configuration changes. */
  readonly watch?: boolean
  /** Fails stages that give other slots than they declare; for tests. */
  readonly strict?: boolean
  /** Limits that override those of the configuration and of `httpLimits`. */
  readonly limits?: Partial<HttpLimits>
}

/** A running gateway. */
export interface Gateway {
  readonly address: AddressInfo
  /** Resolves once everything is ready that the first requests would otherwise wait for. */
  readonly warm: Promise<void>
  readonly live: Live
  readonly database: Database
  /** Resolves once all rows queued so far are in the database. */
  flush(): Promise<void>
  /**
   * Lets running exchanges finish for at most `deadline` milliseconds, then closes everything. For the first `notice`
   * milliseconds, requests are still accepted while health reports announce the stop; default: 0.
   */
  close(deadline?: number, notice?: number): Promise<void>
}

/** Milliseconds between two checks for degraded services to log. */
const tellEvery = 1_000

/** Milliseconds between two looks for rows that other processes left in files. */
const recoverEvery = 60_000

/** The configuration was refused; contains all findings. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics.map(printDiagnostic).join('\n'))
    this.diagnostics = diagnostics
  }
}

/** Opens the stores, loads the configuration and serves it. Rejects with `ConfigurationError` or `StartError`. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { log, secrets } = options
  const keep = new Keep()
  const pool = new WorkerPool({ onError: (error) => log.error({ err: error }, 'a worker thread failed') })
  const { bodies, abortTimeout } = { ...httpLimits, ...options.limits }
  const byteBudget = byteBudgetOf(bodies)
  const warmth = new Warmth(log)
  let stores: Stores | undefined
  let http: HttpServer | undefined
  let running: Live | undefined
  let draining = false
  const services = new OpenServices({
    log,
    async prepare(service) {
      const own = opened(stores)
      await migrateService(own.database, service, log)
      return serviceHost(gateway, own, service)
    },
  })
  const gateway: GatewayHost = {
    log,
    services,
    async open(settings) {
      stores ??= await openStores(settings, options)
    },
    get records() {
      return stores?.records
    },
    fixed: (settings) => (stores === undefined ? [] : changedForGood(stores.settings, settings)),
    protect: (values) => values.forEach((value) => secrets.protect(value)),
    scrub: (text) => secrets.scrub(text),
    byteBudget,
    sockets: options.limits?.sockets,
    keyValue: {
      get shared() {
        return stores?.keyValue.shared ?? false
      },
      get: (key) => opened(stores).keyValue.get(key),
      set: (key, value, how) => opened(stores).keyValue.set(key, value, how),
      extend: (key, ttl) => opened(stores).keyValue.extend(key, ttl),
      delete: (key) => opened(stores).keyValue.delete(key),
      used: (account) => opened(stores).keyValue.used(account),
    },
    get jobs() {
      return stores?.jobs
    },
    seal: (bytes, context) => opened(stores).sealing.seal(bytes, context),
    unseal: (sealed, context) => opened(stores).sealing.unseal(sealed, context),
    deriveKey: (info) => opened(stores).sealing.deriveKey(info),
    get masterSecret() {
      return opened(stores).sealing.from
    },
    environment: options.environment,
    work: (module, input, deadline, grace) => pool.run(module, input, deadline, grace),
    keepLoaded: (modules) => pool.keep(modules),
    warmth,
    firstProcess: firstProcess(),
    recheck: () => http?.recheck(),
    keep,
    status: {
      get draining() {
        return draining
      },
      get starting() {
        return !allServe()
      },
      get degraded() {
        if (stores === undefined) return []
        return [...stores.degraded, ...services.degraded.keys()]
      },
      get refused() {
        return running?.refusal
      },
    },
    version: productVersion(),
  }
  const heed = ({ server_config: { logging, keepalive } }: Settings) => {
    setLevel(log, logging.level)
    http?.heed(connectionTimes(keepalive, options.limits))
  }
  const closeStores = async () => {
    // Services may still be writing, and have no timeout of their own.
    const ended = await Promise.allSettled([within(services.close(), abortTimeout, 'a service did not close in time')])
    const closed = await Promise.allSettled([stores?.close(), keep.close(), pool.close()])
    const failures = [...ended, ...closed].flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []))
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed')
  }
  try {
    const started = await Live.start({
      file: options.file,
      ...(options.root === undefined ? {} : { root: options.root }),
      environment: options.environment,
      ...(options.shipped === undefined ? {} : { shipped: options.shipped }),
      gateway,
      strict: options.strict ?? false,
      onSwap: ({ settings }) => heed(settings),
    })
    if ('diagnostics' in started) throw new ConfigurationError(started.diagnostics)
    const { live } = started
    running = live
    if (!stores) throw new Error('the configuration went live without its stores')
    const { settings } = live.current
    const limits = { ...httpLimits, ...clientTimes(settings.client_timeouts), ...options.limits }
    const spool = new Spool(join(dataFolder(settings.database.url, options.root), 'spool'), log)
    const serving = (http = createHttpServer({
      live,
      log,
      limits,
      budget: byteBudget,
      spool,
      openUpgrades: (memory, closing) =>
        new Sockets({ live, log, limits: limits.sockets, budget: byteBudget, shares: memory, closing }),
      draining: () => draining,
    }))
    serving.heed(connectionTimes(settings.server_config.keepalive, options.limits))
    const address = await listen(serving.server, settings).catch(async (error: unknown) => {
      await live.close()
      throw error
    })
    const unwatch = options.watch ? watchConfiguration(live, log) : () => undefined
    const { database, rows, jobs } = stores
    jobs?.start(jobRunner(live))
    const warm = warmth.start()
    const polling = [
      setInterval(() => services.tell(), tellEvery).unref(),
      setInterval(() => void live.follow(), recordPoll).unref(),
      setInterval(() => rows.recover(), recoverEvery).unref(),
    ]
    rows.recover()
    return {
      address,
      warm,
      live,
      database,
      flush: () => rows.flush(),
      async close(deadline = 30_000, notice = 0) {
        draining = true
        unwatch()
        warmth.stop()
        try {
          if (notice > 0) await sleep(notice)
          for (const timer of polling) clearInterval(timer)
          const end = performance.now() + deadline + abortTimeout
          services.endWithin(deadline)
          const cut = setTimeout(() => live.cut(new GatewayError('draining')), deadline).unref()
          await Promise.all([serving.drain(deadline), jobs?.drain(deadline, abortTimeout)])
          // Requests aborted at the deadline still have to hand in their log rows.
          await live.close(Math.max(abortTimeout, end - performance.now()))
          clearTimeout(cut)
        } finally {
          await closeStores()
        }
      },
    }
  } catch (error) {
    await closeStores()
    throw error
  }
}

function opened(stores: Stores | undefined): Stores {
  if (stores === undefined) throw new Error('the stores are opened with the first configuration')
  return stores
}

/** Reasons why listening at an address failed, by error code. */
const unusable: ReadonlyMap<string | undefined, string> = new Map([
  ['EADDRINUSE', 'the port is in use'],
  ['EADDRNOTAVAIL', 'this machine has no such address'],
  ['EACCES', 'this user may not use the port'],
  ['ENOTFOUND', 'the host name is unknown'],
])

function listen(server: Server, { listen: { host, port } }: Settings): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException) => {
      const reason = unusable.get(cause.code) ?? cause.message
      reject(new StartError(`cannot listen on ${host}:${port}: ${reason}`, { cause }))
    }
    server.once('error', onError)
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', onError)
      resolve(server.address() as AddressInfo)
    })
  })
}
