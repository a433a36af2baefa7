/** The key-value store. */
export interface KeyValuesTable {
  key: string
  /** Changes with every write. */
  version: string
  /** Unix time in milliseconds. */
  expires_at: number
  value: Buffer
  /** The account that the value counts towards. */
  account: string | null
  /** Size of the value. */
  bytes: number
}

/** The migrations of services that ran. */
export interface ServiceMigrationsTable {
  service: string
  name: string
  /** Unix time in milliseconds. */
  at: number
}

/** A record that is not declared in a file. Times are Unix times in milliseconds. */
export interface RecordsTable {
  type: string
  name: string
  /** Starts at 1, or after the last version of a deleted record of this name; each change adds 1. */
  version: number
  /** A JSON object; if it contains a secret, sealed and in base64. */
  value: string
  /** 1 or 0. */
  sealed: number
  /** A JSON object, or null: nothing is noted. */
  notes: string | null
  created_at: number
  updated_at: number
  /** Name of who changed it last; null: the gateway itself. */
  updated_by: string | null
}

/** A deleted record whose name is free. */
export interface DeletedRecordsTable {
  type: string
  name: string
  /** Its last version. */
  version: number
}

/** The only row. */
export interface RecordRevisionTable {
  /** The number of changes of records so far. */
  revision: number
}

/** The master secrets that were ever used, once there was a rotation. */
export interface MasterSecretsTable {
  /** Tells secrets apart, and reveals nothing of them. */
  mark: string
  /** Unix time in milliseconds. */
  at: number
  /** The secret, sealed with the newest one and in base64; null: it is the newest one. */
  sealed: string | null
}

/** The engine's own tables, in both dialects. */
export interface EngineTables {
  deleted_records: DeletedRecordsTable
  key_values: KeyValuesTable
  master_secrets: MasterSecretsTable
  record_revision: RecordRevisionTable
  records: RecordsTable
  service_migrations: ServiceMigrationsTable
}
