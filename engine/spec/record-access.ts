import type { TableQueries } from './database.ts'
import type { JsonObject } from './json.ts'
import type { Requester } from './principal.ts'
import type { AnyRecord } from './record.ts'
import type { RecordView, SectionView, ShownRecord } from './record-view.ts'

/** A reference to a record. */
export interface RecordUse {
  /** The record or section that refers to it. */
  readonly by: RecordView
  /** Path to the reference in its value. */
  readonly path: readonly (string | number)[]
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
      /** Notes to store with it, in place of those that its type makes. */
      readonly notes?: JsonObject
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
  /** Whether the service that holds the record appends a row of its own to the audit trail. */
  readonly audited?: boolean
}

/** The records of one configuration. */
export interface RecordLookup {
  /** All types of records, by name. */
  readonly types: ReadonlyMap<string, AnyRecord>
  /** All records of a type: declared, stored, and those left out of the configuration. */
  of(type: string): readonly ShownRecord[]
  /** Finds a record by its own name, not by an alias. */
  find(type: string, name: string): ShownRecord | undefined
  /** Every section of `server_config`. */
  sections(): readonly SectionView[]
  /** Every reference to a record, by its name or an alias, in records and sections. */
  uses(type: string, name: string): readonly RecordUse[]
  /** The secrets of a record, or of a `section`, in clear, by dotted path; undefined when there is no such record. */
  reveal(type: string, name: string): Readonly<Record<string, string>> | undefined
}

/** The records of one configuration, and the means to change them. */
export interface RecordAccess extends RecordLookup {
  /**
   * Changes a stored record. The next configuration is first built from the loaded files and the changed records, and
   * checked. Then the change is stored, and the configuration goes live before this resolves. The calling exchange
   * keeps its own configuration. Rejects with a `GatewayError`, without any change: `not_found`, `declared_in_file`,
   * `name_taken`, `in_use`, `stale_version`, `invalid_field`, `invalid_configuration` with all findings, or
   * `store_unavailable`.
   * @param by who asks for it, for services that witness the change
   * @returns the new record; undefined if it was deleted
   */
  change(change: RecordChange, by?: Requester): Promise<ShownRecord | undefined>
  /**
   * Makes several changes together, or none of them. Errors are those of `change`; those about the configuration tell of
   * the last change.
   * @param plan the changes, from the records that they apply to; it is called again if these have changed meanwhile
   * @param also further writes in the same transaction; not called when nothing changes
   * @returns the new records; undefined for those that were deleted
   */
  changeAll(
    plan: (records: RecordLookup) => readonly RecordChange[],
    by?: Requester,
    also?: (transaction: TableQueries) => Promise<void>,
  ): Promise<readonly (ShownRecord | undefined)[]>
}
