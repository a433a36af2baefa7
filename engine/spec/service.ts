import type { JSONSchema } from 'json-schema-to-ts'
import type { JsonObject } from './json.ts'
import type { Insertable } from 'kysely'
import type { Catalog } from './catalog.ts'
import { noConfig } from './config.ts'
import type { ConfigOf } from './config.ts'
import type { ServiceMigration, TableQueries, Tables } from './database.ts'
import type { RecordChanged, RecordName, Records, TypedRecords } from './record.ts'
import type { Principal } from './slots.ts'
import type { Host } from './host.ts'

/**
 * What stages and other services see of each service, by its name. A plugin adds its own by declaration merging:
 * `declare module 'sluice' { interface Services { budgets: Budgets } }`.
 */
export interface Services {}

export type ServiceName = keyof Services

/** The views of some services, all of the same configuration. */
export type Views<U extends ServiceName> = { readonly [N in U]: Services[N] }

/** What the gateway offers to a service while it is opened: nothing of a configuration, which it outlives. */
export interface ServiceHost extends Pick<
  Host,
  'log' | 'scrub' | 'byteBudget' | 'keyValue' | 'jobs' | 'seal' | 'unseal' | 'work' | 'warm' | 'version'
> {
  /** The configured database. The query builder is loaded with the first use of it: it is large. */
  readonly database: TableQueries
  /**
   * Runs a statement of its own that takes no parameters, without loading the query builder, and gives its rows. It is a
   * part of no transaction; on SQLite it waits for the one under way.
   */
  rows<R>(statement: string): Promise<readonly R[]>
  /**
   * Hands a row of texts, numbers and nulls to the thread that writes rows in bulk; never waits. A process that is killed
   * loses the rows of the last 100 ms, a queue that is full its oldest. A row that breaks a constraint is dropped, one that
   * is there already is passed over. Throws when the table is not the service's own.
   */
  append<T extends keyof Tables>(table: T, row: Insertable<Tables[T]>): void
  /**
   * What appends rows to a table, and says what becomes of them. Throws when the table is not the service's own.
   * @param options `waits`: rows wait while the table is not there, as while a backup is restored; else they are dropped
   */
  appender<T extends keyof Tables>(table: T, options?: { readonly waits?: boolean }): Appender<Insertable<Tables[T]>>
  /**
   * Looks at once whether the clients of open sockets may still be here, which is done every few seconds anyway: somebody
   * was shut out.
   */
  recheck(): void
}

/** Hands rows of a table to the thread that writes rows in bulk. */
export interface Appender<R> {
  /** Never waits, never throws. */
  append(row: R): void
  readonly counters: RowCounters
}

/** What became of the rows that this process has appended to a table. */
export interface RowCounters {
  readonly written: number
  /** Rows that were lost: the queue was full, or no database would take them. */
  readonly dropped: number
  readonly pending: number
  /** Why rows cannot be written at present. */
  readonly failing: string | undefined
}

/** What a service can read of the configuration that it is configured for, beside its own settings. */
export interface ServiceConfiguration {
  /** Its providers are opened after the services. */
  readonly catalog: Catalog
  /** Its records, those of the database too, with what is secret in them. One that is off is not among them. */
  readonly records: TypedRecords
  /** Refuses the configuration for one of its records: the steps to the value, a code and a sentence, as a finding there. */
  readonly reject: (
    record: Records[RecordName],
    path: readonly (string | number)[],
    code: string,
    message: string,
  ) => void
  /**
   * A record that a service is about to store, of a type that services hold: with defaults, and checked like a declared
   * one, together with those. Throws the `GatewayError` of `create-record`, with every finding.
   */
  readonly accept: <N extends RecordName>(type: N, value: JsonObject) => Records[N]
  /**
   * Has every service witness the change of such a record, in the transaction that makes it. Where this rejects, the
   * transaction has to fail. What is secret in the values is hidden from the witnesses.
   */
  readonly witness: (transaction: TableQueries, change: HeldChange, by?: Principal) => Promise<void>
}

/** A change of a record that a service holds. */
export interface HeldChange extends Pick<RecordChanged, 'kind' | 'type' | 'name'> {
  /** Absent: it is made. */
  readonly before?: JsonObject
  /** Absent: it is deleted. */
  readonly after?: JsonObject
}

/** An open service: the state that outlives every reload. */
export interface OpenService<S, V, W> {
  /**
   * Makes its view for one configuration. It may wait, and refuse by a `Refusal`. Exchanges of other configurations are
   * under way and this one may still be refused, so it changes nothing that others see.
   */
  configure(settings: S, views: W, configuration: ServiceConfiguration): Configured<V> | Promise<Configured<V>>
  /**
   * Writes down that a stored record is changed, in the transaction of the change. Where it throws, or takes longer than 5
   * seconds, the change is not made, and whoever asked for it is answered 503. It asks the database through `transaction`
   * alone: what it asked otherwise would wait for the end of the transaction.
   */
  witness?(transaction: TableQueries, change: RecordChanged, by: Principal | undefined): Promise<void>
  /** What is degraded, in one line; undefined: nothing is. */
  status?(): string | undefined
  /** No configuration uses it any more. It is waited for, for 10 seconds. */
  close?(): void | Promise<void>
}

/** A service as one configuration has it. */
export interface Configured<V> {
  /** What the stages of this configuration see. */
  readonly view: V
  /** The configuration went live: from now on shared state follows its settings. */
  live?(): void
  /** Its last exchange has ended, or it was refused. It is waited for, for 10 seconds. */
  close?(): void | Promise<void>
}

/** What the start of a gateway prints. */
export interface Said {
  readonly text: string
  /** The same where JSON is printed; absent: nothing is. */
  readonly json?: JsonObject
}

/** What a service says to whoever starts the gateway. */
export interface Greeting {
  /** Printed before the address: what can be told this once. Where several processes serve, none of them does so yet. */
  readonly now?: Said
  /** Printed below the address. */
  served?(gateway: { readonly url: string; readonly catalog: Catalog }): Said | undefined
}

/** Hears what is wrong with settings: the steps to the value, and a sentence. */
export type Report = (path: readonly (string | number)[], message: string) => void

interface Described<N extends ServiceName, S, U extends ServiceName> {
  /** Lower-case letters, digits and "_". */
  readonly name: N
  readonly summary: string
  /** JSON Schema of its section of `server_config`; every property has a description, and a default or a place in `required`. */
  readonly settings?: S
  /** Its section where that has another name. Several services may stand in one, each with properties of its own. */
  readonly section?: string
  /** Properties whose value is a secret: hidden in whatever leaves. */
  readonly secrets?: readonly string[]
  /** Services whose views it is configured with. They are opened first. */
  readonly uses?: readonly U[]
  /** What makes its tables, in order. They ran before it is opened. */
  readonly migrations?: readonly ServiceMigration[]
  /** Says what its schema cannot say. It also runs where nothing is opened. */
  check?(settings: ConfigOf<S>, report: Report): void
  /**
   * Asked when a gateway has started, once and by one of its processes. It is given its view; where several processes
   * serve, of a service that the first one opens for this alone.
   */
  greet?(view: Services[N]): Greeting | undefined | Promise<Greeting | undefined>
}

interface Opening<N extends ServiceName, S, U extends ServiceName> {
  /** Opens it, once in a process. */
  open(
    host: ServiceHost,
  ): OpenService<ConfigOf<S>, Services[N], Views<U>> | Promise<OpenService<ConfigOf<S>, Services[N], Views<U>>>
}

/** A service: something that lives longer than an exchange and is shared by stages. Without `open` its view is its settings. */
export type ServiceParts<N extends ServiceName, S, U extends ServiceName> = Described<N, S, U> &
  (ConfigOf<S> extends Services[N] ? Partial<Opening<N, S, U>> : Opening<N, S, U>)

/** A declared service, as a registry holds it: configured only with settings that its own schema accepted. */
export interface AnyService {
  readonly kind: 'service'
  readonly name: string
  readonly summary: string
  readonly settings: JSONSchema
  readonly section: string
  readonly secrets?: readonly string[]
  readonly uses: readonly string[]
  readonly migrations: readonly ServiceMigration[]
  check?(settings: JsonObject, report: Report): void
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
