import { closeSync, openSync } from 'node:fs'
import BetterSqlite from 'better-sqlite3'

/** Why the gateway does not start: one line for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** Where a database is, as its URL says. */
export type Location =
  | { readonly dialect: 'sqlite'; readonly path: string; readonly maxPages?: number }
  | { readonly dialect: 'postgres'; readonly url: string; readonly where: string }

const SQLITE = /^sqlite:(?<path>(?!\/\/|:)[^?]+)(?:\?max_page_count=(?<pages>[1-9]\d*))?$/

/**
 * Reads a database URL: `sqlite:<path>`, with `?max_page_count=<pages>` to bound the file, or `postgres://…`.
 * Throws a `StartError` for anything else; the text never holds a password.
 */
export function locationOf(url: string): Location {
  const file = SQLITE.exec(url)?.groups
  if (file?.['path'] !== undefined) {
    const pages = file['pages']
    return { dialect: 'sqlite', path: file['path'], ...(pages === undefined ? {} : { maxPages: Number(pages) }) }
  }
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) {
    const { hostname, port, pathname } = new URL(url)
    return { dialect: 'postgres', url, where: `${hostname}:${port || '5432'}${pathname}` }
  }
  throw new StartError('database.url must be sqlite:<path> or postgres://<user>:<password>@<host>:<port>/<name>')
}

/**
 * Makes a file that nobody else may read; SQLite would let everybody. The files that SQLite writes beside it take its
 * mode. One that is there already keeps the mode it has: somebody may have opened it for a backup.
 */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It is there, or it cannot be made: then SQLite finds the same, and says so.
  }
}

/** Opens a SQLite file for writing. `busy` is how long, in milliseconds, a query blocks its thread for another's lock. */
export function openFile(path: string, busy: number, maxPages?: number): BetterSqlite.Database {
  makeFile(path)
  const file = new BetterSqlite(path, { timeout: busy })
  try {
    file.pragma('journal_mode = WAL')
    file.pragma('synchronous = NORMAL')
    if (maxPages !== undefined) file.pragma(`max_page_count = ${maxPages}`)
    return file
  } catch (error) {
    file.close()
    throw error
  }
}

/** The code an error of Node, SQLite or PostgreSQL carries. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
