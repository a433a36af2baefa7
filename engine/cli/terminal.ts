import { styleText } from 'node:util'
import type { Environment } from '../config/interpolate.ts'
import type { Style } from '../spec/command.ts'

/** The environment and the output of a command. */
export interface Terminal {
  readonly environment: Environment
  /** The folder to which relative paths refer. */
  readonly folder: string
  /** Whether standard error is a terminal. */
  readonly interactive: boolean
  /** Prints lines to standard output. */
  out(text: string): void
  /** Prints messages to standard error. */
  error(text: string): void
  /** Styles a text if standard output is a terminal. */
  style(format: Style, text: string): string
  /**
   * Aborted when the reader of standard output, such as `head`, has closed it. That is not a failure, but a command
   * that runs indefinitely should stop.
   */
  readonly unread?: AbortSignal
}

/** Options that every command has. */
export interface CommonOptions {
  /** Path of the configuration file. */
  readonly config: string
  readonly json: boolean
}

/** Wrong usage, such as a name that does not exist: one line, exit code 2. */
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
