import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { root } from './sandbox.ts'

/** A command as a process group of its own, as a terminal starts it. */
export interface Serving {
  /** Lines of standard output and of standard error so far. */
  readonly out: readonly string[]
  readonly error: readonly string[]
  /** Number of the first process. */
  readonly pid: number
  /** Reads its standard output no further. */
  leave(): void
  /** Sends a signal to the first process alone. */
  signal(signal: NodeJS.Signals): void
  /** Sends a signal to all processes, as Ctrl-C does. */
  interrupt(signal: NodeJS.Signals): void
  /** Resolves once `condition` holds; rejects when the process ends before. */
  until(condition: () => boolean): Promise<void>
  /** The exit code, once it has ended and said everything. */
  readonly ended: Promise<number | null>
  /** Ends it, if it is still there. */
  remove(): Promise<void>
}

/** Starts `sluice serve` in a folder. */
export function startServe(folder: string, environment: Record<string, string> = {}, ...words: string[]): Serving {
  return startCommand(folder, environment, 'serve', ...words)
}

/** Starts any command of `sluice` in a folder. */
export function startCommand(folder: string, environment: Record<string, string>, ...words: string[]): Serving {
  return start([process.execPath, bin, ...words], folder, environment)
}

/** Starts `sluice serve` as npm does: a shell stands between the first process, in the place of npm, and the last. */
export function startBelowShell(folder: string): Serving {
  const inner = `'${process.execPath}' '${bin}' serve --json; true`
  return start(['sh', '-c', `sh -c "${inner}"; true`], folder, { npm_lifecycle_event: 'start' })
}

const bin = join(root, 'engine/bin/sluice.cjs')

function start([command = '', ...words]: string[], folder: string, environment: Record<string, string>): Serving {
  const child = spawn(command, words, {
    cwd: folder,
    detached: true,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const watchers = new Set<() => void>()
  const collect = (stream: NodeJS.ReadableStream): string[] => {
    const lines: string[] = []
    let rest = ''
    stream.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      for (const look of watchers) look()
    })
    return lines
  }
  const out = collect(child.stdout)
  const error = collect(child.stderr)
  const ended = once(child, 'close').then(([code]) => code as number | null)
  return {
    out,
    error,
    pid: child.pid ?? 0,
    ended,
    async remove() {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL')
      } catch {
        // All of them have ended.
      }
      await ended
    },
    leave: () => void child.stdout.destroy(),
    signal: (signal) => void child.kill(signal),
    interrupt: (signal) => void process.kill(-(child.pid ?? 0), signal),
    until: (condition) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!condition()) return
          watchers.delete(look)
          resolve()
        }
        watchers.add(look)
        look()
        void ended.then(() => reject(new Error(`it ended before:\n${error.join('\n')}`)))
      }),
  }
}
