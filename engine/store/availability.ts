import type { DatabaseConnection, Driver } from 'kysely'
import { ofStore } from '../spec/error.ts'
import { codeOf } from '../config/location.ts'

/**
 * SQLSTATEs of a server that cannot work now, by class: lost connections, no resources, failures of its system, its
 * shutdown, conflicts to try again; a missing database, refused credentials, a server that is read-only
 * (PostgreSQL, appendix A). All others are about the query.
 */
const ofServer = /^(08|28|3D|40|53|57|58)|^(25006|55P03)$/
const ofFile = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|PROTOCOL|NOMEM|CORRUPT|NOTADB)/
const sqlState = /^(\d|F0|HV|P0|XX)/

/** Whether an error of a database says that it cannot be used at the moment: away, locked, full, read-only, damaged. */
function isUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  if (code?.startsWith('SQLITE_')) return ofFile.test(code)
  if (code !== undefined) return sqlState.test(code) ? ofServer.test(code) : true
  // The driver of PostgreSQL gives no code to connections that end, or are not there in time.
  return error instanceof Error && error.constructor === Error
}

/** Does work of a database, and marks its error if the database cannot be used. */
export async function asked<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw isUnavailable(error) ? ofStore(error) : error
  }
}

/** A driver that marks the errors of a database that cannot be used. */
export function withMarks(driver: Driver): Driver {
  const acquire = driver.acquireConnection.bind(driver)
  const known = new WeakSet<DatabaseConnection>()
  driver.acquireConnection = async (...how) => {
    const connection = await asked(() => acquire(...how))
    if (known.has(connection)) return connection
    known.add(connection)
    const execute = connection.executeQuery.bind(connection)
    connection.executeQuery = (...query) => asked(() => execute(...query))
    return connection
  }
  return driver
}
