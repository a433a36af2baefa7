import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { StartError, codeOf } from '../config/location.ts'

/** Minimum characters of a master secret. */
const SHORTEST = 16

/**
 * The file of the master secret. A rotation writes the next secret beside it, commits, and only then puts it into the
 * place of the old one: whenever it is killed, one of the two files has the secret that the database needs.
 */
export class SecretFile {
  readonly #path: string
  readonly #log: Pick<Logger, 'warn'>

  constructor(path: string, log: Pick<Logger, 'warn'>) {
    this.#path = path
    this.#log = log
  }

  /** The secret in the file, which is created if it is missing. Processes that create it at the same time agree on one. */
  read(): string {
    if (!existsSync(this.#path)) create(this.#path)
    // Windows has no such modes, and reports that everyone can read the file.
    if (process.platform !== 'win32' && (statSync(this.#path).mode & 0o077) !== 0)
      this.#log.warn(
        { file: this.#path },
        'other users can read the file of the master secret: restrict its permissions',
      )
    return accepted(readFileSync(this.#path, 'utf8').trim(), this.#path)
  }

  /** The secrets that stand in the file and beside it now. */
  all(): readonly string[] {
    return [this.#path, this.#next].flatMap((path) => secretIn(path) ?? [])
  }

  /** Writes the next secret beside the file, so that it survives a loss of power. */
  prepare(secret: string): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    rmSync(this.#next, { force: true })
    writeFileSync(this.#next, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true })
    flushFolder(this.#path)
  }

  /** Puts the next secret into the place of the old one, if it is this one. */
  settle(secret: string): void {
    if (secretIn(this.#next) !== secret) return
    try {
      renameSync(this.#next, this.#path)
    } catch (error) {
      // Another process was first.
      if (codeOf(error) !== 'ENOENT') throw error
    }
    flushFolder(this.#path)
  }

  get #next(): string {
    return `${this.#path}.next`
  }
}

export function accepted(secret: string, where: string): string {
  if (secret.length < SHORTEST)
    throw new StartError(`the master secret in ${where} has fewer than ${SHORTEST} characters`)
  return secret
}

function secretIn(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Creates the file atomically: no process reads a partial secret. */
function create(path: string): void {
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(draft, `${newSecret()}\n`, { mode: 0o600, flag: 'wx' })
  try {
    linkSync(draft, path)
  } catch (error) {
    // Another process was first.
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Makes the entries of the file's folder survive a loss of power. Windows cannot open folders. */
function flushFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
