/** An API key made in the database. Times in milliseconds since 1970. */
export interface ApiKeysTable {
  id: string
  name: string
  /** SHA-256 of the key's text, in hex. */
  hash: string
  /** The last four characters of the key's text. */
  hint: string
  /** JSON list of the models the key may use; null: all. */
  models: string | null
  created_at: number
  expires_at: number | null
  revoked_at: number | null
}

/** The request log: one column per field of `LogRow`. Milliseconds, tokens and micro-USD are whole numbers. */
export interface RequestsTable {
  id: string
  at: number
  type: string
  key_id: string | null
  requested: string | null
  model: string | null
  provider: string | null
  protocol: string | null
  upstream_protocol: string | null
  /** 1 or 0: SQLite has no booleans. */
  stream: number
  status: number
  result: string
  error: string | null
  attempts: number
  input_tokens: number | null
  cache_read_tokens: number | null
  cache_write_tokens: number | null
  output_tokens: number | null
  reasoning_tokens: number | null
  cost_micros: number | null
  first_byte: number | null
  duration: number
  reference: string | null
  parent: string | null
  /** JSON object. */
  metadata: string
}

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
  api_keys: ApiKeysTable
  key_values: KeyValuesTable
  record_revision: RecordRevisionTable
  records: RecordsTable
  requests: RequestsTable
  service_migrations: ServiceMigrationsTable
}
