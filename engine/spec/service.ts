import type { JSONSchema } from 'json-schema-to-ts'
import type { Appender, AppenderOptions } from './appender.ts'
import type { FirstProcess } from './first-process.ts'
import type { JsonObject } from './json.ts'
import type { Redis } from 'ioredis'
import type { Insertable } from 'kysely'
import type { Catalog } from './catalog.ts'
import { noConfig } from './config.ts'
import type { ConfigOf } from './config.ts'
import type { ServiceMigration, SqlDialect, TableQueries, Tables } from './database.ts'
import type { RecordName, Records, TypedRecords } from './record.ts'
import type { RecordChanged } from './record-access.ts'
import type { Requester } from './principal.ts'
import type { Host } from './host.ts'
import type { AnySignal } from './signal.ts'

/**
 * The view that stages and other services get of each service, by name. A plugin adds its own by declaration merging:
 * `declare module 'sluice' { interface Services { budgets: Budgets } }`.
 */
export interface Services {}

export type ServiceName = keyof Services

/** The views of some services, all for the same configuration. */
export type Views<U extends ServiceName> = { readonly [N in U]: Services[N] }

/**
 * The gateway's interface for a service that is being opened. It has nothing of a configuration, because the service
 * outlives configurations.
 */
export interface ServiceHost extends Pick<
  Host,
  'log' | 'scrub' | 'byteBudget' | 'keyValue' | 'jobs' | 'seal' | 'unseal' | 'work' | 'warm' | 'version'
> {
  /** The configured database. The query builder is large, so it is loaded on first use. */
  readonly database: TableQueries
  readonly dialect: SqlDialect
  /**
   * Queues work for the moment when a transaction of `database` is committed; after a rollback it never runs. The
   * promise of the transaction resolves after the work. An error of the work is logged. The work must not wait for a
   * query, because the connection is still in use. Rejects outside a transaction.
   */
  afterCommit(transaction: TableQueries, work: () => void | Promise<void>): Promise<void>
  /**
   * Opens a connection of the service's own to the configured key-value store (Redis 7 or later); absent: none is
   * configured. Resolves even if the store is away: the connection then tries again on its own. A command fails after 3
   * seconds, and at once while there is no connection; it is never sent twice. The service closes the connection. Its
   * keys begin with `sluice:` and the name of the service.
   */
  connectRedis?: () => Promise<Redis>
  /** The process that has started this one; absent in a process that serves alone. */
  readonly firstProcess?: FirstProcess
  /** Absolute path of the folder for the gateway's own files: the folder of the SQLite file; otherwise `data`. */
  readonly folder: string
  /**
   * Runs a statement without parameters, without loading the query builder, and returns its rows. It is not part of
   * any transaction; on SQLite it waits for the running one.
   */
  rows<R>(statement: string): Promise<readonly R[]>
  /**
   * Queues a row of texts, numbers and nulls for the thread that writes rows in bulk; never waits. A killed process
   * loses the rows of the last 100 ms; a full queue drops its oldest rows. A row that violates a constraint is
   * dropped; one that already exists is skipped. Throws when the table is not the service's own.
   */
  append<T extends keyof Tables>(table: T, row: Insertable<Tables[T]>): void
  /** An appender of rows to a table, with counters of lost rows. Throws when the table is not the service's own. */
  appender<T extends keyof Tables>(table: T, options?: AppenderOptions): Appender<Insertable<Tables[T]>>
  /**
   * A key of 32 bytes for the purpose that `info` names, the same in every process and after every start. Derived from
   * the master secret by HKDF-SHA-256 (RFC 5869) without salt. Another purpose gets another key, of which this one
   * reveals nothing.
   */
  deriveKey(info: string): Buffer
  /** Where the master secret stands: `SLUICE_SECRET`, or a file beside the database. */
  readonly masterSecret: 'environment' | 'file'
  /**
   * Keeps a thread of the worker pool running that has these modules loaded, until the returned function is called: no
   * task waits because a thread has yet to start. A thread that died is replaced at once.
   */
  keepLoaded(modules: readonly URL[]): () => void
  /**
   * Checks at once whether the clients of open sockets are still authorized, instead of at the next periodic check.
   * To be called after access was revoked.
   */
  recheck(): void
}

/** The parts of a configuration that a service can read besides its own settings. */
export interface ServiceConfiguration {
  /** Version of the configuration. */
  readonly version: string
  /** Version of its files: the same for configurations that differ only in stored records. */
  readonly fileVersion: string
  /** The catalog; its providers are opened after the services. */
  readonly catalog: Catalog
  /** Every registered classifier. */
  readonly signals: readonly AnySignal[]
  /** The records, including stored ones, with their secrets. Records that are off are left out. */
  readonly records: TypedRecords
  /** Refuses the configuration because of a record: the path to the value, a code and a sentence become a finding. */
  readonly reject: (
    record: Records[RecordName],
    path: readonly (string | number)[],
    code: string,
    message: string,
  ) => void
  /** Checks a record that a service is about to store, together with the declared records, and fills in defaults. Throws the `GatewayError` of `create-record`, with every finding. */
  readonly accept: <N extends RecordName>(type: N, value: JsonObject) => Records[N]
  /** Lets every service witness the change of such a record, within the transaction of the change. If it rejects, the transaction must fail. Witnesses do not see secrets in the values. */
  readonly witness: (transaction: TableQueries, change: HeldChange, by?: Requester) => Promise<void>
}

/** A change of a record that a service holds. */
export interface HeldChange extends Pick<RecordChanged, 'kind' | 'type' | 'name'> {
  /** Absent: the record is created. */
  readonly before?: JsonObject
  /** Absent: the record is deleted. */
  readonly after?: JsonObject
}

/** An open service: state that outlives every reload. */
export interface OpenService<S, V, W> {
  /**
   * Creates the view for one configuration. May return a promise, and may throw a `Refusal`. Exchanges of other
   * configurations are running, and this configuration may still be refused, so shared state must not change here.
   */
  configure(settings: S, views: W, configuration: ServiceConfiguration): Configured<V> | Promise<Configured<V>>
  /**
   * Stores its own record of a change of a stored record, within the same transaction. If it throws or takes longer
   * than 5 seconds, the change is rolled back and its client gets a 503. It must use `transaction` for all queries:
   * any other query would wait for the end of the transaction.
   */
  witness?(transaction: TableQueries, change: RecordChanged, by: Requester | undefined): Promise<void>
  /** What is degraded, in one line; undefined: nothing. */
  status?(): string | undefined
  /** No configuration uses the service any more. The engine waits up to 10 seconds for it. */
  close?(): void | Promise<void>
}

/** A service within one configuration. */
export interface Configured<V> {
  /** The view for stages of this configuration. */
  readonly view: V
  /** The configuration went live: shared state now follows its settings. */
  live?(): void
  /**
   * The last exchange of the configuration has ended, or the configuration was refused. The engine waits up to 10
   * seconds.
   */
  close?(): void | Promise<void>
}

/** Output at the start of a gateway. */
export interface Said {
  readonly text: string
  /** The same for JSON output; absent: nothing is printed. */
  readonly json?: JsonObject
}

/**
 * A service's output for the operator who starts the gateway. What throws or takes longer than 5 seconds is logged and
 * not printed.
 */
export interface Greeting {
  /**
   * Printed before the address, such as a secret shown only once. With several processes, it is printed before any of
   * them serves.
   */
  readonly now?: Said
  /** Printed below the address. */
  served?(gateway: { readonly url: string; readonly catalog: Catalog }): Said | undefined | Promise<Said | undefined>
}

/** Reports a mistake in settings: the path to the value, and a sentence. */
export type Report = (path: readonly (string | number)[], message: string) => void

/** Also takes the code of the finding (default: `service`). Mistakes that do not prevent serving are warnings. */
export type SectionReport = (...given: [...Parameters<Report>, code?: string, as?: 'error' | 'warning']) => void

interface Described<N extends ServiceName, S, U extends ServiceName> {
  /** Lower-case letters, digits and "_". */
  readonly name: N
  readonly summary: string
  /**
   * JSON Schema of its section of `server_config`; every property has a description, and a default or a place in
   * `required`.
   */
  readonly settings?: S
  /**
   * Name of its section; default: the name of the service. Several services may share one, each with properties of
   * its own.
   */
  readonly section?: string
  /** Properties with a secret value, which is redacted in all output. */
  readonly secrets?: readonly string[]
  /** Services whose views it gets when it is configured. They are opened first. */
  readonly uses?: readonly U[]
  /** Migrations of its tables, in order. They run before it is opened. */
  readonly migrations?: readonly ServiceMigration[]
  /**
   * Checks what the schema cannot express. It also runs while services are closed.
   * @param records the records that the settings may refer to, also those that are off
   */
  check?(settings: ConfigOf<S>, report: SectionReport, records: TypedRecords): void
  /**
   * Called once when a gateway has started, in one of its processes. With several processes, the first process opens
   * the service for this call only. The engine waits up to 5 seconds.
   */
  greet?(view: Services[N]): Greeting | undefined | Promise<Greeting | undefined>
}

interface Opening<N extends ServiceName, S, U extends ServiceName> {
  /** Opens the service, once per process. */
  open(
    host: ServiceHost,
  ): OpenService<ConfigOf<S>, Services[N], Views<U>> | Promise<OpenService<ConfigOf<S>, Services[N], Views<U>>>
}

/** A service: state that outlives exchanges and is shared by stages. Without `open`, its view is its settings. */
export type ServiceParts<N extends ServiceName, S, U extends ServiceName> = Described<N, S, U> &
  (ConfigOf<S> extends Services[N] ? Partial<Opening<N, S, U>> : Opening<N, S, U>)

/** A declared service in a registry: configured only with settings that its schema accepted. */
export interface AnyService {
  readonly kind: 'service'
  readonly name: string
  readonly summary: string
  readonly settings: JSONSchema
  readonly section: string
  readonly secrets?: readonly string[]
  readonly uses: readonly string[]
  readonly migrations: readonly ServiceMigration[]
  check?(settings: JsonObject, report: SectionReport, records: TypedRecords): void
  greet?(view: unknown): Greeting | undefined | Promise<Greeting | undefined>
  open?(host: ServiceHost): OpenService<JsonObject, unknown, object> | Promise<OpenService<JsonObject, unknown, object>>
}

/** Declares a service. */
export function defineService<
  const N extends ServiceName,
  const S = typeof noConfig,
  const U extends ServiceName = never,
>(service: ServiceParts<N, S, U>): AnyService {
  return {
    kind: 'service',
    settings: noConfig,
    section: service.name,
    uses: [],
    migrations: [],
    ...service,
  } as unknown as AnyService
}
