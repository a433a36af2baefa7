import type { JSONSchema } from 'json-schema-to-ts'
import type { RefusedAction } from './access.ts'
import type { Json, JsonObject } from './json.ts'
import type { AnyClientCodec } from './codec.ts'
import type { Catalog, ModelRecord } from './catalog.ts'
import { noConfig } from './config.ts'
import type { ConfigOf, Stability } from './config.ts'
import type { SealedColumn, ServiceMigration, TableQueries } from './database.ts'
import type { RecordName, Records, TypedRecords } from './record.ts'
import type { RecordChanged, RecordLookup } from './record-access.ts'
import type { Requester } from './principal.ts'
import type { AnyGuard } from './guard.ts'
import type { AnySignal } from './signal.ts'
import type { ServiceHost } from './service-host.ts'

/**
 * The view that stages and other services get of each service, by name. A plugin adds its own by declaration merging:
 * `declare module 'sluice' { interface Services { budgets: Budgets } }`.
 */
export interface Services {}

export type ServiceName = keyof Services

/** The views of some services, all for the same configuration. */
export type Views<U extends ServiceName> = { readonly [N in U]: Services[N] }

/** The parts of a configuration that a service can read besides its own settings. */
export interface ServiceConfiguration {
  /** Version of the configuration. */
  readonly version: string
  /** Version of its files: the same for configurations that differ only in stored records. */
  readonly fileVersion: string
  /** Where the gateway listens, as configured; `url` is where clients reach it, if that is another address. */
  readonly listen: { readonly host: string; readonly port: number; readonly url?: string }
  /** Where the newest version stands, as the configuration file has it. */
  readonly updates?: string
  /** The catalog; its providers are opened after the services. */
  readonly catalog: Catalog
  /** Every registered classifier. */
  readonly signals: readonly AnySignal[]
  /** Every registered kind of guard. */
  readonly guards: readonly AnyGuard[]
  /** The views of other services, once all are configured. */
  readonly viewsOf: (names: readonly string[] | undefined) => Readonly<Record<string, unknown>>
  /** The records, including stored ones, with their secrets. Records that are off are left out. */
  readonly records: TypedRecords
  /** Whether the file declares a record, or a section by its name, so that the operator has written its addresses. */
  readonly isDeclared: (what: Records[RecordName] | string) => boolean
  /** Refuses the configuration because of a record: the path to the value, a code and a sentence become a finding. */
  readonly reject: (
    record: Records[RecordName],
    path: readonly (string | number)[],
    code: string,
    message: string,
  ) => void
  /** Checks a record that a service is about to store or to try, together with the declared records, and fills in defaults. Throws the `GatewayError` that a creation answers, with every finding. */
  readonly accept: <N extends RecordName>(type: N, value: JsonObject) => Records[N]
  /** Lets every service witness the change of such a record, within the transaction of the change. If it rejects, the transaction must fail. Witnesses do not see secrets in the values. */
  readonly witness: (transaction: TableQueries, change: HeldChange, by?: Requester) => Promise<void>
}

/** A change of a record that a service holds. */
export interface HeldChange extends Pick<RecordChanged, 'kind' | 'type' | 'name' | 'audited'> {
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
   * Refuses a change of a stored record before anything is stored, by throwing a `GatewayError`, which its client gets.
   * For rules that depend on more than the records, such as settings or the addresses of a name. The configuration with
   * the change is built, and has no mistakes; `next` has its records.
   */
  admit?(change: RecordChanged, next: RecordLookup): void | Promise<void>
  /**
   * Stores its own record of a change of a stored record, within the same transaction. If it throws or takes longer
   * than 5 seconds, the change is rolled back, and its client gets the `GatewayError` that was thrown, otherwise a 503.
   * All its queries must use `transaction`: any other query would wait for the end of the transaction.
   */
  witness?(transaction: TableQueries, change: RecordChanged, by: Requester | undefined): Promise<void>
  /** Somebody was refused a change, who gets the error when this is done. */
  refused?(refused: RefusedAction): Promise<void>
  /** What is degraded, in one line; undefined: nothing. */
  status?(): string | undefined
  /** No configuration uses the service any more. The engine waits up to 10 seconds, or `limit` milliseconds, for it. */
  close?(limit: number): void | Promise<void>
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

/** What a configuration has around the settings of a service, as its check sees it. */
export interface SettingsAround {
  /** The settings as they are written, without defaults. */
  readonly written: JsonObject
  /** The codecs of the protocols that clients speak. */
  readonly codecs: readonly AnyClientCodec[]
  /** The models, also those that are off, with what is known of them beside their records. */
  readonly models: readonly ModelRecord[]
  /** Whether there is a key-value store that machines share (`key_value`). */
  readonly sharesStore: boolean
  /** Whether other machines can connect to the gateway. */
  readonly isReachable: boolean
  /** Warns of a record of the same file: the path to the value, a code and a sentence. */
  readonly warn: (
    record: Records[RecordName],
    path: readonly (string | number)[],
    code: string,
    message: string,
  ) => void
}

/** What variables of the environment say about a section. */
export interface SaidByVariables {
  /** Settings that they decide, by path (`traces.enabled`), in place of what is written. */
  readonly decides: readonly { readonly setting: string; readonly variable: string; readonly value: Json }[]
  /** Values that cannot be used: `sluice check` fails, and the gateway starts. A `warning` fails nothing. */
  readonly mistakes: readonly { readonly variable: string; readonly message: string; readonly warning?: true }[]
}

interface Described<N extends ServiceName, S, U extends ServiceName> {
  /** Lower-case letters, digits and "_". */
  readonly name: N
  readonly summary: string
  /** Default: `beta`. */
  readonly stability?: Stability
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
   * Columns of its tables that `host.seal` has sealed, in base64. With a new master secret, `sluice secret rotate` seals
   * them anew.
   */
  readonly seals?: readonly SealedColumn[]
  /**
   * Checks what the schema cannot express. It also runs while services are closed.
   * @param records the records that the settings may refer to, also those that are off
   */
  check?(settings: ConfigOf<S>, report: SectionReport, records: TypedRecords, around: SettingsAround): void
  /** Reads variables of the environment. It also runs while services are closed. */
  variables?(environment: ServiceHost['environment']): SaidByVariables
  /**
   * Called once when a gateway has started, in one of its processes. With several processes, the first process opens
   * the service for this call only. The engine waits up to 5 seconds.
   */
  greet?(view: Services[N]): Greeting | undefined | Promise<Greeting | undefined>
  /**
   * Called in the transaction that makes a new master secret, before the services that it uses. `host` already seals
   * and derives with the new secret. If it rejects, the old secret stays.
   * @param earlier derives keys as the old secret did
   */
  rotate?(view: Services[N], transaction: TableQueries, earlier: Pick<ServiceHost, 'deriveKey'>): Promise<void>
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
  readonly stability?: Stability
  readonly settings: JSONSchema
  readonly section: string
  readonly secrets?: readonly string[]
  readonly uses: readonly string[]
  readonly migrations: readonly ServiceMigration[]
  readonly seals?: readonly SealedColumn[]
  check?(settings: JsonObject, report: SectionReport, records: TypedRecords, around: SettingsAround): void
  variables?(environment: ServiceHost['environment']): SaidByVariables
  greet?(view: unknown): Greeting | undefined | Promise<Greeting | undefined>
  rotate?(view: unknown, transaction: TableQueries, earlier: Pick<ServiceHost, 'deriveKey'>): Promise<void>
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
