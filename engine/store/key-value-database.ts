import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { bufferOf } from '../stream/buffer-of.ts'
import type { Database } from './connect.ts'
import { storeUnavailable } from './key-value.ts'
import type { OpenKeyValue } from './key-value.ts'
import { codeOf } from '../config/location.ts'

/** Milliseconds after which a database that does not respond counts as unavailable. */
const DEADLINE = 5_000

/** Pauses before retries when another process holds SQLite's lock: each attempt blocks the event loop briefly. */
const PAUSES = [10, 30, 90, 270]

/** Milliseconds between two sweeps of expired rows, and maximum rows deleted at once. */
const SWEEP = 60_000
const BATCH = 100

/** Exposes `sweep` for tests. */
export interface DatabaseKeyValue extends OpenKeyValue {
  /** Deletes expired rows in small batches. */
  sweep(): Promise<void>
}

/** The key-value store in a table of the database. An expired row is ignored at once, and deleted later. */
export function openDatabaseKeyValue(database: Database, log: Logger): DatabaseKeyValue {
  const closing = new AbortController()

  async function sweep(): Promise<void> {
    for (let found = BATCH; found === BATCH && !closing.signal.aborted; await wait(20)) {
      const expired = `expires_at <= ${Date.now()}`
      // Checks the expiry again: a row may have been rewritten since it was selected.
      const deleted = await asked(() =>
        database.rows(
          `delete from key_values where ${expired} and key in
           (select key from key_values where ${expired} limit ${BATCH}) returning key`,
        ),
      )
      found = deleted.length
    }
  }
  let sweeping = Promise.resolve()
  const timer = setInterval(() => {
    sweeping = sweep().catch((error: unknown) => log.warn({ err: error }, 'expired values cannot be deleted'))
  }, SWEEP).unref()

  return {
    shared: false,
    failing: false,
    async get(key) {
      const row = await asked(() =>
        database.query
          .selectFrom('key_values')
          .select(['version', 'value'])
          .where('key', '=', key)
          .where('expires_at', '>', Date.now())
          .executeTakeFirst(),
      )
      return row && { version: row.version, value: Buffer.from(row.value) }
    },
    async set(key, value, { ttl, version, account }) {
      const now = Date.now()
      const row = {
        value: bufferOf(value),
        version: randomBytes(12).toString('base64url'),
        expires_at: now + Math.ceil(ttl),
        account: account ?? null,
        bytes: value.byteLength,
      }
      if (typeof version === 'string') {
        const { numUpdatedRows } = await asked(() =>
          database.query
            .updateTable('key_values')
            .set(row)
            .where('key', '=', key)
            .where('version', '=', version)
            .where('expires_at', '>', now)
            .executeTakeFirst(),
        )
        return numUpdatedRows === 1n
      }
      const { numInsertedOrUpdatedRows } = await asked(() =>
        database.query
          .insertInto('key_values')
          .values({ key, ...row })
          .onConflict((conflict) => {
            const over = conflict.column('key').doUpdateSet((given) => ({
              value: given.ref('excluded.value'),
              version: given.ref('excluded.version'),
              expires_at: given.ref('excluded.expires_at'),
              account: given.ref('excluded.account'),
              bytes: given.ref('excluded.bytes'),
            }))
            return version === null ? over.where('key_values.expires_at', '<=', now) : over
          })
          .executeTakeFirst(),
      )
      return numInsertedOrUpdatedRows === 1n
    },
    async extend(key, ttl) {
      const now = Date.now()
      const until = now + Math.ceil(ttl)
      const { numUpdatedRows } = await asked(() =>
        database.query
          .updateTable('key_values')
          .set({
            expires_at: (given) =>
              given.case().when('expires_at', '<', until).then(until).else(given.ref('expires_at')).end(),
          })
          .where('key', '=', key)
          .where('expires_at', '>', now)
          .executeTakeFirst(),
      )
      return numUpdatedRows === 1n
    },
    async delete(key) {
      const deleted = await asked(() =>
        database.query
          .deleteFrom('key_values')
          .where('key', '=', key)
          .where('expires_at', '>', Date.now())
          .executeTakeFirst(),
      )
      return deleted.numDeletedRows === 1n
    },
    async used(account) {
      const { count, bytes } = await asked(() =>
        database.query
          .selectFrom('key_values')
          .select(({ fn }) => [fn.countAll().as('count'), fn.sum('bytes').as('bytes')])
          .where('account', '=', account)
          .where('expires_at', '>', Date.now())
          .executeTakeFirstOrThrow(),
      )
      return { count: Number(count), bytes: Number(bytes ?? 0) }
    },
    sweep,
    async close() {
      closing.abort()
      clearInterval(timer)
      await sweeping
    },
  }
}

/** The database's response, with a timeout, and with retries while SQLite's lock is held. */
async function asked<T>(ask: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await inTime(ask())
    } catch (error) {
      const pause = PAUSES[tries]
      if (pause === undefined || !codeOf(error)?.startsWith('SQLITE_BUSY')) throw storeUnavailable(error)
      await wait(pause)
    }
  }
}

function inTime<T>(answer: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE} ms`)), DEADLINE)
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}
