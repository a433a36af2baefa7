import type { JSONSchema } from 'json-schema-to-ts'
import type { AnyUpstreamCodec } from './codec.ts'
import type { ConfigOf } from './config.ts'
import type { JsonObject } from './json.ts'
import type { Offer } from './open-provider.ts'
import type { Principal } from './slots.ts'

/**
 * What a record of each type holds, by the name of the type. A plugin adds its own by declaration merging:
 * `declare module 'sluice' { interface Records { member: ConfigOf<typeof schema> } }`.
 */
export interface Records {}

export type RecordName = keyof Records

/** Hears what is wrong with a record: the steps to the value, a code and a sentence. What can be served is a warning. */
export type RecordReport = (
  path: readonly (string | number)[],
  code: string,
  message: string,
  as?: 'error' | 'warning',
) => void

/** The records of a configuration with all that is in them. */
export interface TypedRecords {
  /** In the order in which they were given. */
  of<N extends RecordName>(type: N): readonly Records[N][]
  /** The one that bears this name, among its further ones too. */
  find<N extends RecordName>(type: N, name: string): Records[N] | undefined
}

/** What a record is checked with: the others of its configuration that their schema accepts, and what plugins bring. */
export interface AllRecords extends TypedRecords {
  /** What a provider offers; unknown when there is none of that name, when it is off, or when its settings do not suffice. */
  offers(provider: string): readonly Offer[] | undefined
  /** The codec of a protocol that upstreams speak. */
  codec(protocol: string): AnyUpstreamCodec | undefined
}

/** A type of record: something with a name that is declared in the configuration file. */
export interface RecordParts<N extends RecordName, S> {
  /** Lower-case letters, digits and "_". */
  readonly name: N
  readonly summary: string
  /** The list of the configuration file in which they are declared. */
  readonly place: string
  /**
   * JSON Schema of one, with a text `name` that is required. Every property has a description. A text that names another
   * record says so (`'x-names': 'provider'`): a name that nothing bears is a finding. Its `title` is what sentences call
   * one; default: the type's name.
   */
  readonly schema: ConfigOf<S> extends Records[N] ? S : never
  /** Fields whose value is a secret: never shown, hidden in whatever leaves. */
  readonly secrets?: readonly string[]
  /** The field that lists further names of it. No two records of a type share a name. */
  readonly aliases?: string
  /** Fields in which no two of them have the same text. */
  readonly unique?: readonly string[]
  /** Whether `*` at the end of a name stands for any text. */
  readonly patterns?: boolean
  /**
   * Who holds those that are made while the gateway runs. `snapshot`: the engine, with a configuration for every change:
   * others refer to them. `service`: a service in tables of its own, such as many that change all day; it is handed the
   * declared ones when it is configured. Default: `snapshot`.
   */
  readonly holds?: 'snapshot' | 'service'
  /** Whether one is off while a variable that it needs is unset; else that is a finding. */
  readonly optional?: boolean
  /** Its field `type` names a component of this kind, whose schema its further fields follow. */
  readonly typed?: 'provider'
  /** Says what its schema cannot say, of a record that its schema accepts. It also runs where nothing is opened. */
  check?(record: Records[N], all: AllRecords, report: RecordReport): void
}

/** Fields that clients see beside those of a record: no type of record has one of them. */
export type RecordField = 'secrets' | 'source' | 'declared_at' | 'version' | 'created_at' | 'updated_at' | 'problem'

/** A declared type of record, as a registry holds it. */
export interface AnyRecord {
  readonly kind: 'record'
  readonly name: string
  readonly summary: string
  readonly place: string
  readonly schema: JSONSchema
  readonly secrets?: readonly string[]
  readonly aliases?: string
  readonly unique?: readonly string[]
  readonly patterns?: boolean
  readonly holds?: 'snapshot' | 'service'
  readonly optional?: boolean
  readonly typed?: 'provider'
  check?(record: JsonObject, all: AllRecords, report: RecordReport): void
}

/** A record as a configuration has it, without what is secret in it. */
export interface RecordView {
  /** Name of its type. */
  readonly type: string
  readonly name: string
  /**
   * Defaults filled in. The fields that follow its `type`, where it has one, stand below `config`. While the component
   * that `type` names is missing, nobody knows which of them are secret, and none is shown.
   */
  readonly value: JsonObject
  /** What is secret and set, by dotted path, with the last four characters of texts of 16 or more. */
  readonly secrets: Readonly<Record<string, { readonly set: true; readonly hint: string | null }>>
  /** Only sections of the settings are there by default. */
  readonly source: 'file' | 'database' | 'default'
  /** Where the file declares it. */
  readonly declaredAt?: { readonly file: string; readonly line: number }
  /** Of a stored one: from 1, higher with every change, also than that of a deleted one of its name; milliseconds since 1970. */
  readonly stored?: { readonly version: number; readonly createdAt: number; readonly updatedAt: number }
  /** Why it is off, or left out of the configuration. */
  readonly problem?: string
}

/** A section of `server_config` as a configuration has it: a record of the type `section`, without what is secret in it. */
export interface SectionView extends RecordView {
  /** Without the settings that have none. */
  readonly defaults: JsonObject
  /** JSON Schema of all that stands in it. */
  readonly schema: JsonObject
  /** Environment variables that have the last word, by the settings that they give. */
  readonly overridden: Readonly<Record<string, string>>
}

/**
 * A change of a stored record. A section, whose type is `section`, is changed without being made before, and deleted it has
 * its defaults. `versions` are those of which it has to have one; absent: any will do.
 */
export type RecordChange =
  | { readonly kind: 'create'; readonly type: string; readonly value: JsonObject }
  | {
      readonly kind: 'change'
      readonly type: string
      readonly name: string
      /** What differs (RFC 7396): `null` takes a field away. */
      readonly patch: JsonObject
      readonly versions?: readonly number[]
    }
  | { readonly kind: 'delete'; readonly type: string; readonly name: string; readonly versions?: readonly number[] }

/** A change of a record as it is written. */
export interface RecordChanged {
  readonly kind: RecordChange['kind']
  readonly type: string
  readonly name: string
  /** Absent: it is made. */
  readonly before?: RecordView
  /** Absent: it is deleted. */
  readonly after?: RecordView
}

/** The records of one configuration, and the way to another one. */
export interface RecordAccess {
  /** The types that there are, by name. */
  readonly types: ReadonlyMap<string, AnyRecord>
  /** Those of a type: the declared ones, the stored ones, and those that are left out. */
  of(type: string): readonly RecordView[]
  /** By its own name. */
  find(type: string, name: string): RecordView | undefined
  /** Every section of `server_config`. */
  sections(): readonly SectionView[]
  /**
   * Changes a stored record. The next configuration is built of the files as they run and checked, then the change is
   * written, then it goes live; only then it is answered. The exchange that asks stays in its own configuration. Rejects
   * with a `GatewayError`, and nothing was done: `not_found`, `declared_in_file`, `name_taken`, `in_use`, `stale_version`,
   * `invalid_field`, `invalid_configuration` with every finding, or `store_unavailable`.
   * @param by who asks, for the services that witness it
   * @returns the record as it is now; undefined: it was deleted
   */
  change(change: RecordChange, by?: Principal): Promise<RecordView | undefined>
}

/** Declares a type of record. */
export function defineRecord<const N extends RecordName, const S>(record: RecordParts<N, S>): AnyRecord {
  return { kind: 'record', ...record } as unknown as AnyRecord
}
