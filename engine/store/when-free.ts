import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../config/location.ts'

/** Milliseconds between two attempts, and maximum attempts. */
const PAUSE = 50
const TRIES = 100

/**
 * Runs a transaction, again and again while another process holds the lock of a SQLite file. PostgreSQL waits for its
 * locks itself. Rejects with any other error, or after five seconds.
 */
export async function whenFree<T>(transaction: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await transaction()
    } catch (error) {
      if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true || tries >= TRIES) throw error
      await wait(PAUSE)
    }
}
