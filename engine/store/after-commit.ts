import type { DatabaseConnection, Driver, Kysely } from 'kysely'

type Work = () => void | Promise<void>

/** Work that waits for the commit of the transaction on a connection. */
const waiting = new WeakMap<DatabaseConnection, Work[]>()

/**
 * Queues work for the moment when a transaction is committed. It never runs after a rollback. The promise of the
 * transaction resolves after the work. The work must not reject, and must not wait for a query: the connection is still
 * in use. Throws outside a transaction.
 */
export async function afterCommit<T>(transaction: Kysely<T>, work: Work): Promise<void> {
  if (!transaction.isTransaction) throw new Error('there is no transaction to be committed')
  await transaction.getExecutor().provideConnection((connection) => {
    waiting.set(connection, [...(waiting.get(connection) ?? []), work])
    return Promise.resolve()
  })
}

/** A driver that does the work that waits for its commits, in the order in which it was queued. */
export function withWork(driver: Driver): Driver {
  const commit = driver.commitTransaction.bind(driver)
  const rollback = driver.rollbackTransaction.bind(driver)
  driver.commitTransaction = async (connection) => {
    await commit(connection)
    const works = waiting.get(connection) ?? []
    waiting.delete(connection)
    for (const work of works) await work()
  }
  driver.rollbackTransaction = (connection) => {
    waiting.delete(connection)
    return rollback(connection)
  }
  return driver
}
