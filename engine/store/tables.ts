/** The key-value store. */
export interface KeyValuesTable {
  key: string
  /** Another one with every write. */
  version: string
  /** Milliseconds since 1970. */
  expires_at: number
  value: Buffer
  /** Whom it counts for. */
  account: string | null
  /** Of the value. */
  bytes: number
}

/** Which migrations of services ran. */
export interface ServiceMigrationsTable {
  service: string
  name: string
  /** Milliseconds since 1970. */
  at: number
}

/** A record that was not declared in a file. Times in milliseconds since 1970. */
export interface RecordsTable {
  type: string
  name: string
  /** From 1; another one with every change. */
  version: number
  /** JSON object; where something in it is secret, sealed as base64. */
  value: string
  /** 1 or 0. */
  sealed: number
  created_at: number
  updated_at: number
}

/** One row. */
export interface RecordRevisionTable {
  /** Changes of records so far. */
  revision: number
}

/** The engine's own tables, in both dialects. */
export interface EngineTables {
  key_values: KeyValuesTable
  record_revision: RecordRevisionTable
  records: RecordsTable
  service_migrations: ServiceMigrationsTable
}
