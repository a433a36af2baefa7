import { closeSync, openSync } from 'node:fs'
import BetterSqlite from 'better-sqlite3'

/** Why the gateway cannot start: one line for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** The place of a database according to its URL. */
export type Location =
  | { readonly dialect: 'sqlite'; readonly path: string; readonly maxPages?: number }
  | { readonly dialect: 'postgres'; readonly url: string; readonly where: string }

const SQLITE = /^sqlite:(?<path>(?!\/\/|:)[^?]+)(?:\?max_page_count=(?<pages>[1-9]\d*))?$/

/**
 * Parses a database URL: `sqlite:<path>`, optionally with `?max_page_count=<pages>` to limit the file, or
 * `postgres://…`. Throws a `StartError` for anything else; its text never contains a password.
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
 * Creates a file that only its owner can read; SQLite would let everyone read it. Files that SQLite creates next to it
 * get the same mode. An existing file keeps its mode, which may be deliberate, such as for backups.
 */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // The file exists, or cannot be created; in the latter case SQLite reports the error.
  }
}

/**
 * Opens a SQLite file for writing. `busy`: milliseconds that a query blocks its thread to wait for another process's
 * lock.
 */
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

/** The code of an error of Node, SQLite or PostgreSQL. */
export function codeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}
