import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import type { Records, ServiceHost } from '../../engine/index.ts'
import { Lines } from './lines.ts'

/** A program to start. */
export type Program = Pick<Records['mcp_server'], 'name' | 'command' | 'arguments' | 'environment' | 'cwd'>

/** What a running program tells. */
export interface ChildEvents {
  /** A line of its standard output. */
  readonly line: (text: string) => void
  /** It has ended, for this reason; nothing comes after it. */
  readonly ended: (reason: string) => void
}

/** Most bytes of a message of a child; of those that it has not read yet; characters of a line in the log. */
const [longestLine, mostUnread, longestLog] = [64 * 1024 * 1024, 64 * 1024 * 1024, 4_096]
/** Most characters of a line that should have been a message. */
const longestShown = 256
/** Most lines that are logged in a second. */
const mostLogged = 100
/** A group of processes may take this many milliseconds to end before it is killed. */
const grace = 2_000

/** The groups of processes that run. They are killed if this process ends without closing them. */
const groups = new Set<number>()
let isGuarded = false

/**
 * A program that runs in a group of processes of its own, without a shell. Its environment is PATH and what its record
 * has. Its standard error goes to the log, line by line.
 */
export class Child {
  readonly #process: ChildProcessWithoutNullStreams
  readonly #log: ServiceHost['log']
  readonly #gone = Promise.withResolvers<void>()
  readonly #holders = new Set<object>()
  #ending: Promise<void> | undefined
  #problem: string | undefined
  #logged = { second: 0, lines: 0 }

  constructor(program: Program, log: ServiceHost['log'], events: ChildEvents) {
    const { name, command = '', arguments: words, environment, cwd } = program
    this.#log = log.child({ mcp_server: name })
    const { PATH } = process.env
    this.#process = spawn(command, words, {
      env: { ...(PATH === undefined ? {} : { PATH }), ...environment },
      ...(cwd === undefined ? {} : { cwd }),
      detached: true,
      shell: false,
      stdio: 'pipe',
    })
    const { pid, stdin, stdout, stderr } = this.#process
    if (pid !== undefined) guard(pid)
    const output = linesOf(longestLine, events.line)
    const problems = linesOf(longestLog, (line) => this.#note(() => this.#log.info({ line }, 'an MCP server writes')))
    stdout.on('data', (chunk: Buffer) => output.push(chunk))
    stderr.on('data', (chunk: Buffer) => problems.push(chunk))
    // A child that does not read any more is about to end, which is told below.
    stdin.on('error', (error) => this.#log.debug({ err: error }, 'an MCP server does not read its input'))
    this.#process.on(
      'error',
      (error: NodeJS.ErrnoException) => (this.#problem ??= `it cannot be started (${error.code})`),
    )
    // What the program has started must not outlive it, nor keep its output open.
    this.#process.once('exit', () => void this.end())
    this.#process.once('close', (code, signal) => {
      output.end()
      problems.end()
      this.#gone.resolve()
      events.ended(this.#problem ?? (signal === null ? `it ended with code ${code}` : `it ended by ${signal}`))
    })
  }

  /** Sends a message as one line. Returns false if too many wait to be read. */
  send(message: Buffer | string): boolean {
    const { stdin } = this.#process
    if (stdin.writableLength > mostUnread) return false
    // Outside of strings, line ends are white space; in strings, JSON has none.
    if (stdin.writable) stdin.write(`${message.toString().replaceAll(/[\r\n]/g, ' ')}\n`)
    return true
  }

  /** Stops reading its output until every holder has released it. */
  hold(holder: object): void {
    this.#holders.add(holder)
    this.#process.stdout.pause()
  }

  release(holder: object): void {
    if (this.#holders.delete(holder) && this.#holders.size === 0) this.#process.stdout.resume()
  }

  /** Ends the program with all that it has started. Resolves once they are gone. */
  end(): Promise<void> {
    return (this.#ending ??= this.#end())
  }

  async #end(): Promise<void> {
    const { pid, stdin, stdout } = this.#process
    stdin.end()
    // Nobody may wait to read what is left.
    this.#holders.clear()
    stdout.resume()
    if (pid !== undefined) {
      signal(pid, 'SIGTERM')
      for (let waited = 0; waited < grace && signal(pid, 0); waited += step) await wait(step)
      signal(pid, 'SIGKILL')
      groups.delete(pid)
    }
    await this.#gone.promise
  }

  /** Logs a line that is no message. */
  noMessage(line: string): void {
    this.#note(() => this.#log.warn({ line: line.slice(0, longestShown) }, 'an MCP server writes what is no message'))
  }

  #note(log: () => void): void {
    const second = Math.floor(performance.now() / 1_000)
    if (this.#logged.second !== second) this.#logged = { second, lines: 0 }
    const { lines } = this.#logged
    this.#logged.lines += 1
    if (lines < mostLogged) log()
    else if (lines === mostLogged) this.#log.warn('an MCP server writes too much; the rest of this second is left out')
  }
}

/** Milliseconds between two looks at a group that is about to end. */
const step = 20

function linesOf(limit: number, line: (text: string) => void): Lines {
  return new Lines({ limit, line, tooLong: line })
}

/** Sends a signal to a group of processes; 0: none. Returns false if no process of it is left. */
function signal(group: number, name: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-group, name)
  } catch {
    // The only other reason is that the processes belong to somebody else, who must end them.
    return false
  }
}

function guard(pid: number): void {
  groups.add(pid)
  if (isGuarded) return
  isGuarded = true
  process.on('exit', () => {
    for (const group of groups) signal(group, 'SIGKILL')
  })
}
