import { styleText } from 'node:util'
import type { Environment } from '../config/interpolate.ts'
import type { Style } from '../spec/command.ts'

/** Where a command reads its surroundings and writes what it has to say. */
export interface Terminal {
  readonly environment: Environment
  /** Folder that relative paths start from. */
  readonly folder: string
  /** A person reads standard error as it is written. */
  readonly interactive: boolean
  /** Prints lines to standard output. */
  out(text: string): void
  /** Prints lines to standard error. */
  error(text: string): void
  /** The text in a style, where standard output is a terminal. */
  style(format: Style, text: string): string
  /** Aborts when whoever read standard output, such as `head`, has gone: no failure, and no reason to go on for ever. */
  readonly unread?: AbortSignal
}

/** Options that every command has. */
export interface CommonOptions {
  /** Path of the configuration file. */
  readonly config: string
  readonly json: boolean
}

/** The user asked for something that is not there: one line, exit code 2. */
export class WrongUse extends Error {
  override readonly name = 'WrongUse'
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const unread = new AbortController()
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    unread.abort()
  })
  return {
    environment: process.env,
    folder: process.cwd(),
    interactive: process.stderr.isTTY,
    out: (text) => void process.stdout.write(`${text}\n`),
    error: (text) => void process.stderr.write(`${text}\n`),
    style: (format, text) => styleText(format, text, { stream: process.stdout }),
    unread: unread.signal,
  }
}
