import type { JsonObject } from './json.ts'

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
  readonly stored?: {
    readonly version: number
    readonly createdAt: number
    readonly updatedAt: number
    /** Name of who changed it last; absent: the gateway itself. */
    readonly updatedBy?: string
  }
  /** What its type noted about it. */
  readonly notes?: JsonObject
  /** Why it is off. */
  readonly off?: string
  /** Why it is off, or left out of the configuration. */
  readonly problem?: string
}

/** A record with what clients see of it. */
export interface ShownRecord extends RecordView {
  readonly shown: JsonObject
}

/** A section of `server_config` in a configuration: a record of the type `section`, without its secrets. */
export interface SectionView extends ShownRecord {
  /** Defaults of the settings that have one. */
  readonly defaults: JsonObject
  /** JSON Schema of the section. */
  readonly schema: JsonObject
  /** What gives the values of settings in place of the section, by setting: environment variables, places in the file. */
  readonly overridden: Readonly<Record<string, string>>
}
