import type { JSONSchema } from 'json-schema-to-ts'
import type { Role } from './access.ts'
import type { ModelRecord } from './catalog.ts'
import type { AnyUpstreamCodec } from './codec.ts'
import type { ConfigOf } from './config.ts'
import type { ErrorCode } from './error-table.ts'
import type { Json, JsonObject } from './json.ts'
import type { Offer } from './open-provider.ts'
import type { PageParts } from './page.ts'
import type { RecordView } from './record-view.ts'

/**
 * The value type of each record type, by name. A plugin adds its own by declaration merging: `declare module 'sluice'
 * { interface Records { member: ConfigOf<typeof schema> } }`.
 */
export interface Records {}

export type RecordName = keyof Records

/**
 * Reports a mistake in a record: the path to the value, a code and a sentence. Mistakes that do not prevent serving
 * are warnings; `lenient` ones are warnings in the file, and errors in records that are made at run time.
 */
export type RecordReport = (
  path: readonly (string | number)[],
  code: string,
  message: string,
  as?: 'error' | 'warning' | 'lenient',
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
  /**
   * The offers of a provider; undefined when it does not exist or has incomplete settings, and when it is off, unless
   * `evenOff`.
   */
  offers(provider: string, evenOff?: boolean): readonly Offer[] | undefined
  /** A model with what is known of it beside its record; undefined while records are checked. */
  served(name: string): ModelRecord | undefined
  /** Why a record is off; undefined when it is on or does not exist. */
  off(type: RecordName, name: string): string | undefined
  /** The upstream codec of a protocol. */
  codec(protocol: string): AnyUpstreamCodec | undefined
}

/** A parameter that filters lists of records. */
export interface RecordFilter {
  /** What it accepts: any text, `true` or `false`, or one of some words. */
  readonly accepts: 'text' | 'boolean' | readonly string[]
  /** The values of a record, one of which must be asked for. Default: that of the field with the filter's name. */
  readonly values?: (shown: JsonObject) => readonly (Json | undefined)[]
}

/** How lists of records of a type are filtered, sorted and searched. */
export interface RecordLists {
  readonly filters: Readonly<Record<string, RecordFilter>>
  /** Fields with a text, a number or null. */
  readonly sorts: readonly string[]
  /** The texts in which `search` looks; default: the name. */
  readonly searched?: (shown: JsonObject) => readonly (Json | undefined)[]
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
  /**
   * Fields that decide where secrets are sent, such as the command of a program that gets them. Whoever changes one of
   * them at run time must enter the secrets again. Host, port and scheme of the addresses in any field count without
   * being listed here.
   */
  readonly destinations?: readonly string[]
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
   * The field `type` of a record names a component of this kind, or the field `kind` of a guard: its schema describes
   * the record's further fields.
   */
  readonly typed?: 'provider' | 'guard'
  /**
   * Checks what the schema cannot express, for a record that the schema accepts. It also runs while services are
   * closed.
   */
  check?(record: Records[N], all: AllRecords, report: RecordReport): void
  /**
   * Changes what clients see of a record, such as fields that follow from other records. Default: the fields of the
   * record without secrets, and its state.
   */
  show?(shown: JsonObject, record: RecordView, all: AllRecords): JsonObject
  /**
   * For models: adds what is known of one beside its record, such as a public price. Undefined: nothing.
   * @param provider the value of a provider's record
   */
  complete?(model: ModelRecord, provider: (name: string) => JsonObject | undefined): ModelRecord | undefined
  /** Default: filters for every field and for `source`, sorted by `name` or `created_at`. */
  readonly lists?: RecordLists
  /**
   * Path below which five actions show and change the records, such as `/api/models`, for members of `role`. An action
   * of the same route replaces one.
   */
  readonly route?: string
  /** Default: `admin`. */
  readonly role?: Role
  /** Those of the actions that there are not. */
  readonly without?: readonly ('list' | 'get' | 'create' | 'change' | 'delete')[]
  /** The codes with which services refuse a change (`admit`), beyond those of every type. */
  readonly errors?: readonly ErrorCode[]
  /** How the console shows the records, which need a `route`. Columns and facts may be fields beside those of the schema. */
  readonly page?: PageParts
  /** JSON Schema of the fields that `show` adds to what clients see of a record, or shows in another way. */
  readonly shows?: Readonly<Record<string, object>>
  /** The fields without a default that `show` gives every record, also one of which only the name can be read. */
  readonly always?: readonly string[]
  /**
   * Makes the notes that are stored with a changed record, such as the time of a change: facts that are no part of its
   * value. Default: those of before.
   * @param at Unix time in milliseconds
   */
  note?(value: JsonObject, before: NotedRecord | undefined, at: number): JsonObject
}

/** A stored record before a change. */
export interface NotedRecord {
  readonly value: JsonObject
  readonly notes: JsonObject
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
  readonly destinations?: readonly string[]
  readonly aliases?: string
  readonly unique?: readonly string[]
  readonly patterns?: boolean
  readonly holds?: 'snapshot' | 'service'
  readonly optional?: boolean
  readonly switch?: string
  readonly typed?: 'provider' | 'guard'
  check?(record: JsonObject, all: AllRecords, report: RecordReport): void
  show?(shown: JsonObject, record: RecordView, all: AllRecords): JsonObject
  complete?(model: ModelRecord, provider: (name: string) => JsonObject | undefined): ModelRecord | undefined
  readonly lists?: RecordLists
  readonly route?: string
  readonly role?: Role
  readonly without?: readonly string[]
  readonly errors?: readonly ErrorCode[]
  readonly page?: PageParts
  readonly shows?: Readonly<Record<string, object>>
  readonly always?: readonly string[]
  note?(value: JsonObject, before: NotedRecord | undefined, at: number): JsonObject
}

/** Declares a type of record. */
export function defineRecord<const N extends RecordName, const S>(record: RecordParts<N, S>): AnyRecord {
  return { kind: 'record', ...record } as unknown as AnyRecord
}
