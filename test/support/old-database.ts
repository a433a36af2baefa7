import { connect } from '../../engine/store/connect.ts'

/**
 * What the engine's migrations made when they were released, word for word: databases that they made are still there,
 * whatever those migrations make now.
 */
const released: Readonly<Record<string, readonly string[]>> = {
  '0001-keys-and-requests': [
    `create table "api_keys" ("id" text primary key, "name" text not null unique, "hash" text not null unique, "hint" text not null, "models" text, "created_at" bigint not null, "expires_at" bigint, "revoked_at" bigint)`,
    `create table "requests" ("id" text primary key, "at" bigint not null, "type" text not null, "key_id" text, "requested" text, "model" text, "provider" text, "protocol" text, "upstream_protocol" text, "stream" integer not null, "status" integer not null, "result" text not null, "error" text, "attempts" integer not null, "input_tokens" bigint, "cache_read_tokens" bigint, "cache_write_tokens" bigint, "output_tokens" bigint, "reasoning_tokens" bigint, "cost_micros" bigint, "first_byte" bigint, "duration" bigint not null, "reference" text, "metadata" text not null)`,
    `create index "requests_at" on "requests" ("at")`,
    `create index "requests_key_id_at" on "requests" ("key_id", "at")`,
  ],
  '0002-key-values': [
    `create table "key_values" ("key" text primary key, "version" text not null, "expires_at" bigint not null, "value" blob not null)`,
    `create index "key_values_expires_at" on "key_values" ("expires_at")`,
  ],
  '0003-key-value-accounts': [
    `alter table "key_values" add column "account" text`,
    `alter table "key_values" add column "bytes" bigint default 0 not null`,
    `create index "key_values_account" on "key_values" ("account", "expires_at", "bytes") where "account" is not null`,
  ],
  '0004-parents': [
    `alter table "requests" add column "parent" text`,
    `create index "requests_parent" on "requests" ("parent") where "parent" is not null`,
  ],
  '0005-service-migrations': [
    `create table "service_migrations" ("service" text not null, "name" text not null, "at" bigint not null, constraint "service_migrations_key" primary key ("service", "name"))`,
  ],
  '0006-records': [
    `create table "records" ("type" text not null, "name" text not null, "version" bigint not null, "value" text not null, "sealed" integer not null, "created_at" bigint not null, "updated_at" bigint not null, constraint "records_key" primary key ("type", "name"))`,
    `create table "record_revision" ("revision" bigint not null)`,
    `insert into "record_revision" values (0)`,
  ],
}

/** The names of those migrations, in order. */
export const releasedMigrations = Object.keys(released)

/**
 * Makes a database as a version left it whose newest migration was `last`, and runs further statements in it. The
 * database must be empty.
 */
export async function makeOldDatabase(url: string, last: string, statements: readonly string[]): Promise<void> {
  const database = await connect(url, { busy: 1_000, connections: 1 })
  const journal = [
    `create table "kysely_migration" ("name" varchar(255) not null primary key, "timestamp" varchar(255) not null)`,
    `create table "kysely_migration_lock" ("id" varchar(255) not null primary key, "is_locked" integer default 0 not null)`,
    `insert into "kysely_migration_lock" values ('migration_lock', 0)`,
  ]
  const ran = releasedMigrations.slice(0, releasedMigrations.indexOf(last) + 1)
  const made = ran.flatMap((name) => [
    ...(released[name] ?? []),
    `insert into "kysely_migration" values ('${name}', '2026-01-01T00:00:00.000Z')`,
  ])
  try {
    for (const statement of [...journal, ...made, ...statements])
      await database.rows(database.dialect === 'postgres' ? statement.replace(' blob ', ' bytea ') : statement)
  } finally {
    await database.close()
  }
}
