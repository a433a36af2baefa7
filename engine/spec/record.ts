import type { JSONSchema } from 'json-schema-to-ts'
import type { AnyUpstreamCodec } from './codec.ts'
import type { ConfigOf } from './config.ts'
import type { JsonObject } from './json.ts'
import type { Offer } from './open-provider.ts'
import type { Requester } from './principal.ts'

/**
 * The value type of each record type, by name. A plugin adds its own by declaration merging: `declare module 'sluice'
 * { interface Records { member: ConfigOf<typeof schema> } }`.
 */
export interface Records {}

export type RecordName = keyof Records

/**
 * Reports a mistake in a record: the path to the value, a code and a sentence. Mistakes that do not prevent serving
 * are warnings.
 */
export type RecordReport = (
  path: readonly (string | number)[],
  code: string,
  message: string,
  as?: 'error' | 'warning',
) => void

/** The records of a configuration with their full values. */
export interface TypedRecords {
  /** All records of a type, in the order of their declaration. */
  of<N extends RecordName>(type: N): readonly Records[N][]
  /** Finds a record by name or alias. */
  find<N extends RecordName>(type: N, name: string): Records[N] | undefined
}

/** The context for checking a record: the configuration's other valid records, and what plugins define. */
export interface AllRecords extends TypedRecords {
  /** The offers of a provider; undefined when it does not exist, is off, or has incomplete settings. */
  offers(provider: string): readonly Offer[] | undefined
  /** The upstream codec of a protocol. */
  codec(protocol: string): AnyUpstreamCodec | undefined
}

/** A type of record: named objects declared in the configuration file. */
export interface RecordParts<N extends RecordName, S> {
  /** Lower-case letters, digits and "_". */
  readonly name: N
  readonly summary: string
  /** The list in the configuration file that declares them. */
  readonly place: string
  /**
   * JSON Schema of a record, with a required text `name`. Every property has a description. A text that names another
   * record is marked by `'x-names': 'provider'`; an unknown name is then a finding. `title` is the word for one
   * record in messages; default: the type's name.
   */
  readonly schema: ConfigOf<S> extends Records[N] ? S : never
  /** Fields with a secret value: never shown, and redacted in all output. */
  readonly secrets?: readonly string[]
  /** The field with the aliases of a record. Names and aliases are unique within a type. */
  readonly aliases?: string
  /** Fields whose texts must be unique among the records of the type. */
  readonly unique?: readonly string[]
  /** Whether a name may end in `*`, which matches any text. */
  readonly patterns?: boolean
  /**
   * Who stores the records that are created while the gateway runs. `snapshot`: the engine, with a new configuration
   * for every change, because other records refer to them. `service`: a service, in its own tables, for records that
   * are many and change often; the service gets the declared records when it is configured. Default: `snapshot`.
   */
  readonly holds?: 'snapshot' | 'service'
  /** Whether a record is off while an environment variable it needs is unset; otherwise that is a finding. */
  readonly optional?: boolean
  /** The field that switches a record off with `false`, as an unset environment variable does. Default: none. */
  readonly switch?: string
  /**
   * The field `type` of a record names a component of this kind, whose schema describes the record's further fields.
   */
  readonly typed?: 'provider'
  /**
   * Checks what the schema cannot express, for a record that the schema accepts. It also runs while services are
   * closed.
   */
  check?(record: Records[N], all: AllRecords, report: RecordReport): void
}

/** Reserved fields that clients see next to a record's own fields. */
export type RecordField = 'secrets' | 'source' | 'declared_at' | 'version' | 'created_at' | 'updated_at' | 'problem'

/** A declared type of record in a registry. */
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
  readonly switch?: string
  readonly typed?: 'provider'
  check?(record: JsonObject, all: AllRecords, report: RecordReport): void
}

/** A record of a configuration without its secrets. */
export interface RecordView {
  /** The name of its type. */
  readonly type: string
  readonly name: string
  /**
   * The value with defaults filled in. Fields that belong to the component named by its `type` stand below `config`.
   * If that component is missing, none of these fields is shown, because any of them may be secret.
   */
  readonly value: JsonObject
  /** Secrets that are set, by dotted path, with the last four characters of secrets of at least 16 characters. */
  readonly secrets: Readonly<Record<string, { readonly set: true; readonly hint: string | null }>>
  /** `default` occurs for sections of the settings only. */
  readonly source: 'file' | 'database' | 'default'
  /** Its position in the configuration file. */
  readonly declaredAt?: { readonly file: string; readonly line: number }
  /**
   * For a stored record: its version, which starts at 1 and grows with every change, even over a deleted record of
   * the same name; Unix times in milliseconds.
   */
  readonly stored?: { readonly version: number; readonly createdAt: number; readonly updatedAt: number }
  /** Why it is off, or left out of the configuration. */
  readonly problem?: string
}

/** A section of `server_config` in a configuration: a record of the type `section`, without its secrets. */
export interface SectionView extends RecordView {
  /** Defaults of the settings that have one. */
  readonly defaults: JsonObject
  /** JSON Schema of the section. */
  readonly schema: JsonObject
  /** Environment variables that override settings of the section, by setting. */
  readonly overridden: Readonly<Record<string, string>>
}

/**
 * A change of a stored record. A section, whose type is `section`, always exists: it can be changed without being
 * created, and deleting it restores its defaults. `versions` lists the versions the record may have; absent: any.
 */
export type RecordChange =
  | { readonly kind: 'create'; readonly type: string; readonly value: JsonObject }
  | {
      readonly kind: 'change'
      readonly type: string
      readonly name: string
      /** A merge patch (RFC 7396): `null` removes a field. */
      readonly patch: JsonObject
      readonly versions?: readonly number[]
    }
  | { readonly kind: 'delete'; readonly type: string; readonly name: string; readonly versions?: readonly number[] }

/** A change of a record while it is being stored. */
export interface RecordChanged {
  readonly kind: RecordChange['kind']
  readonly type: string
  readonly name: string
  /** Absent: the record is created. */
  readonly before?: RecordView
  /** Absent: the record is deleted. */
  readonly after?: RecordView
}

/** The records of one configuration, and the means to change them. */
export interface RecordAccess {
  /** All types of records, by name. */
  readonly types: ReadonlyMap<string, AnyRecord>
  /** All records of a type: declared, stored, and those left out of the configuration. */
  of(type: string): readonly RecordView[]
  /** Finds a record by its own name, not by an alias. */
  find(type: string, name: string): RecordView | undefined
  /** Every section of `server_config`. */
  sections(): readonly SectionView[]
  /**
   * Changes a stored record. The next configuration is first built from the loaded files and the changed records, and
   * checked. Then the change is stored, and the configuration goes live before this resolves. The calling exchange
   * keeps its own configuration. Rejects with a `GatewayError`, without any change: `not_found`, `declared_in_file`,
   * `name_taken`, `in_use`, `stale_version`, `invalid_field`, `invalid_configuration` with all findings, or
   * `store_unavailable`.
   * @param by who asks for it, for services that witness the change
   * @returns the new record; undefined if it was deleted
   */
  change(change: RecordChange, by?: Requester): Promise<RecordView | undefined>
}

/** Declares a type of record. */
export function defineRecord<const N extends RecordName, const S>(record: RecordParts<N, S>): AnyRecord {
  return { kind: 'record', ...record } as unknown as AnyRecord
}
