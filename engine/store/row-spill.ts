import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
} from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parsedJson } from '../json/parse.ts'
import { codeOf } from '../config/location.ts'
import type { Columns } from './row-lines.ts'

/** Rows of one batch in a file. */
export interface Spilled {
  /** Tells whether a database already has them; see `RowWriter`. */
  readonly id: string
  readonly columns: readonly Columns[]
  /** Lines of `RowLines`, joined by line breaks. */
  readonly rows: string
}

/** Bytes after which the next file of a table begins: one file is read as a whole. */
const FILE = 8 * 1024 * 1024

/** Milliseconds after which a file that nobody has touched belongs to nobody: its process is gone, wherever it ran. */
const ABANDONED = 60_000

/** Ends the name of a file that another process wrote. */
const TAKEN = '.taken'

/**
 * Rows that a database has not taken in time, in files of mode 0600 below one folder: `<table>.<owner>.<number>`. The
 * owner, one per process, alone adds to its files. Whoever reads a file of a process that is gone renames it first.
 * Synchronous, for the thread that writes rows. Errors of the file system are thrown.
 */
export class RowSpill {
  readonly #folder: string
  readonly #owner: string
  /** The file of each table to which rows are added now. */
  readonly #current = new Map<string, string>()
  /** Above those of an earlier thread of this process, whose files have the same owner. */
  #files = Date.now()

  /** @param process identifies the process for its whole life, without dots */
  constructor(folder: string, process: string) {
    this.#folder = folder
    this.#owner = `${hostname().replaceAll('.', '-')}~${globalThis.process.pid}~${process}`
  }

  /** Adds a batch. It is in the file as a whole, or an error is thrown. */
  add(table: string, { id, columns, rows }: Spilled): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    let path = this.#current.get(table)
    const size = path === undefined ? 0 : sizeOf(path)
    if (path === undefined || size > FILE) this.#current.set(table, (path = this.#nextPath(table)))
    const head = JSON.stringify({ id, columns, count: rows.split('\n').length })
    try {
      appendFileSync(path, `${head}\n${rows}\n`, { mode: 0o600, flush: true })
    } catch (error) {
      // A part of it may stand there.
      if (sizeOf(path) > size) truncateSync(path, size)
      throw error
    }
  }

  /**
   * The oldest file with rows of a table: of this process, or of one that is gone. Nothing is added to it any more.
   * `own`: this process wrote it.
   */
  take(table: string): { readonly path: string; readonly own: boolean } | undefined {
    const names = this.#names(table)
    const own = names.filter((name) => this.#isOwn(name)).sort((one, other) => numberOf(one) - numberOf(other))[0]
    if (own !== undefined) {
      const path = join(this.#folder, own)
      if (this.#current.get(table) === path) this.#current.delete(table)
      return { path, own: !own.endsWith(TAKEN) }
    }
    for (const name of names.filter((one) => this.#isAbandoned(one))) {
      const path = `${this.#nextPath(table)}${TAKEN}`
      try {
        renameSync(join(this.#folder, name), path)
        return { path, own: false }
      } catch (error) {
        // Another process was faster.
        if (codeOf(error) !== 'ENOENT') throw error
      }
    }
    return undefined
  }

  /** Tells other processes that the files of this one still belong to it. */
  touch(table: string): void {
    const now = new Date()
    for (const name of this.#names(table)) if (this.#isOwn(name)) utimesSync(join(this.#folder, name), now, now)
  }

  /** The batches of a file, but for one at its end that is not whole. */
  read(path: string): Spilled[] {
    const lines = readFileSync(path, 'utf8').split('\n')
    const batches: Spilled[] = []
    // A whole text ends in a line break, after which there is one more, empty line.
    for (let at = 0; at < lines.length - 1;) {
      const head = headOf(lines[at] as string)
      if (head === undefined || at + head.count >= lines.length - 1) break
      batches.push({ id: head.id, columns: head.columns, rows: lines.slice(at + 1, at + 1 + head.count).join('\n') })
      at += 1 + head.count
    }
    return batches
  }

  remove(path: string): void {
    rmSync(path, { force: true })
  }

  #nextPath(table: string): string {
    return join(this.#folder, `${table}.${this.#owner}.${++this.#files}`)
  }

  #names(table: string): string[] {
    return namesIn(this.#folder).filter((name) => name.startsWith(`${table}.`))
  }

  #isOwn(name: string): boolean {
    return ownerOf(name) === this.#owner
  }

  #isAbandoned(name: string): boolean {
    const [host, pid] = ownerOf(name).split('~')
    const [ownHost, ownPid] = this.#owner.split('~')
    if (host === ownHost && (pid === ownPid || !isAlive(Number(pid)))) return true
    return Date.now() - changedAt(join(this.#folder, name)) > ABANDONED
  }
}

/** The tables of which rows stand in files. */
export function spilledTables(folder: string): string[] {
  return [...new Set(namesIn(folder).map((name) => name.slice(0, name.indexOf('.'))))]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}

const ownerOf = (name: string) => name.split('.')[1] ?? ''
const numberOf = (name: string) => Number(name.split('.')[2])

/** The head of a batch; undefined after a loss of power, which may leave anything at the end of a file. */
function headOf(line: string): (Pick<Spilled, 'id' | 'columns'> & { readonly count: number }) | undefined {
  return parsedJson(line) as ReturnType<typeof headOf>
}

/** Of a file that is gone: 0. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** Milliseconds since 1970; of a file that is gone: now. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}
