import { pino } from 'pino'
import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import type { Path } from '../config/diagnostics.ts'
import type { TableQueries } from '../spec/database.ts'
import type { FirstProcess, ServiceHost } from '../spec/service-host.ts'
import type { AnyService } from '../spec/service.ts'
import { afterCommit } from '../store/after-commit.ts'
import { isTableOf } from '../store/migrate-service.ts'
import type { RecordStore } from '../store/records.ts'
import type { Stores } from '../store/stores.ts'
import type { Host, HostStatus } from '../spec/host.ts'
import { byteBudgetOf } from '../stream/byte-budget.ts'
import { Keep } from '../services/keep.ts'
import type { OpenServices } from '../services/services.ts'
import type { Warmth } from '../services/warmth.ts'

/** What a configuration needs of the gateway: everything that is not made from the configuration itself. */
export interface GatewayHost {
  readonly log: Logger
  /** Opens the stores that all configurations share, with the settings of the first one. */
  open?(settings: Settings): Promise<void>
  /** The record store that `open` has opened; absent: none. */
  readonly records?: Pick<RecordStore, 'read' | 'revision' | 'deleted' | 'commit'> | undefined
  /** Absent: services are not opened. */
  readonly services?: OpenServices
  /** Paths of settings that differ from those at the start and need a restart. */
  fixed?(settings: Settings): readonly Path[]
  /** Registers the secrets of a configuration, before anything is opened with them. */
  protect(secrets: readonly string[]): void
  /** Returns `text` with all known secrets redacted. */
  scrub(text: string): string
  readonly byteBudget: Host['byteBudget']
  /** Limits for sockets that differ from the usual ones. */
  readonly sockets?: Partial<Host['sockets']> | undefined
  readonly keyValue: Host['keyValue']
  readonly jobs?: Host['jobs']
  seal: Host['seal']
  unseal: Host['unseal']
  deriveKey: ServiceHost['deriveKey']
  readonly masterSecret: ServiceHost['masterSecret']
  readonly environment: ServiceHost['environment']
  work: Host['work']
  /** Keeps a thread with these modules running, until the returned function is called. */
  keepLoaded?(modules: readonly URL[]): () => void
  /** Absent: nothing is prepared. */
  readonly warmth?: Pick<Warmth, 'add' | 'discard'>
  readonly firstProcess?: FirstProcess | undefined
  /** Checks whether the clients of open sockets are still authorized; absent: there are no sockets. */
  recheck?(): void
  readonly keep: Keep
  /** State of the process; the state of the configuration is added. */
  readonly status: Pick<HostStatus, 'draining' | 'starting' | 'degraded'> & ReturnType<ServiceHost['state']>
  /** Version of the product. */
  readonly version: string
}

const nothingKept = () => Promise.reject(new Error('there is no key-value store'))
const nothingSealed = () => {
  throw new Error('there is no master secret')
}

/** A gateway that serves nothing: sufficient to build and check a configuration without logging. */
export function emptyGateway(version: string): GatewayHost {
  return {
    log: pino({ level: 'silent' }),
    protect: () => undefined,
    scrub: (text) => text,
    byteBudget: byteBudgetOf(0),
    keyValue: {
      shared: false,
      get: nothingKept,
      set: nothingKept,
      extend: nothingKept,
      delete: nothingKept,
      used: nothingKept,
    },
    seal: nothingSealed,
    unseal: nothingSealed,
    deriveKey: nothingSealed,
    masterSecret: 'file',
    environment: {},
    work: () => Promise.reject(new Error('there is no worker pool')),
    keep: new Keep(),
    status: { draining: false, starting: false, degraded: [] },
    version,
  }
}

/** The host for opening a service: parts of the gateway, and the stores for its tables. */
export function serviceHost(
  gateway: GatewayHost,
  { database, rows, folder, connectRedis }: Pick<Stores, 'database' | 'rows' | 'folder' | 'connectRedis'>,
  { name }: AnyService,
): ServiceHost {
  const queueOf = (table: string) => {
    if (!isTableOf(name, table)) throw new Error(`the table "${table}" is not of the service "${name}"`)
    return rows.of(table)
  }
  return {
    get database() {
      return database.query as unknown as TableQueries
    },
    get dialect() {
      return database.dialect
    },
    afterCommit: (transaction, work) =>
      afterCommit(transaction, async () => {
        try {
          await work()
        } catch (error) {
          gateway.log.error({ err: error, service: name }, 'the work of a service after a commit failed')
        }
      }),
    state: () => gateway.status,
    folder,
    environment: gateway.environment,
    ...(connectRedis ? { connectRedis } : {}),
    ...(gateway.firstProcess ? { firstProcess: gateway.firstProcess } : {}),
    rows: (statement) => database.rows(statement),
    append: (table, row) => queueOf(table).append(row),
    appender(table, { waits = false, sums } = {}) {
      const queue = queueOf(table)
      queue.waits ||= waits
      if (sums) queue.sums = sums
      return queue
    },
    log: gateway.log.child({ service: name }),
    scrub: (text) => gateway.scrub(text),
    byteBudget: gateway.byteBudget,
    keyValue: gateway.keyValue,
    ...(gateway.jobs ? { jobs: gateway.jobs } : {}),
    seal: (bytes, context) => gateway.seal(bytes, context),
    unseal: (sealed, context) => gateway.unseal(sealed, context),
    deriveKey: (info) => gateway.deriveKey(info),
    masterSecret: gateway.masterSecret,
    work: (module, input, deadline, grace) => gateway.work(module, input, deadline, grace),
    warm: (piece, isFirst) => gateway.warmth?.add(piece, isFirst),
    keepLoaded: (modules) => gateway.keepLoaded?.(modules) ?? (() => undefined),
    recheck: () => gateway.recheck?.(),
    version: gateway.version,
  }
}
