import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { Logger } from 'pino'

/** Milliseconds within which a second SIGINT is the same Ctrl-C, forwarded by a parent process. */
const echo = 250

/** Milliseconds between two checks for the npm that started this process. */
const lookout = 1_000

/** The reactions to signals. */
export interface Ending {
  /**
   * Lets running requests finish.
   * @param sound whether the process may still accept requests for a while
   */
  readonly close: (sound: boolean) => Promise<void>
  /** Reloads the configuration. Never rejects. */
  readonly reload: () => void
  readonly log: Logger
}

/**
 * Ends the process gracefully: on a signal (exit code 0), when its terminal or the npm that started it has gone, or
 * after an uncaught error (1). A second signal ends it at once. SIGHUP reloads the configuration unless it means that
 * the terminal was closed. A process that shares its port ignores Ctrl-C: its parent ends it.
 */
export function endInOrder({ close, reload, log }: Ending): void {
  let code: number | undefined
  let since = 0
  const end = (exitCode: number) => {
    code = exitCode
    since = performance.now()
    close(exitCode === 0).then(
      () => process.exit(code),
      (error: unknown) => {
        log.fatal({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  const stop = (reason: string) => {
    if (code === undefined) {
      log.info({ reason }, 'stopping: requests under way may finish')
      end(0)
    } else if (cluster.isPrimary && performance.now() - since > echo) process.exit(1)
  }
  const leave = (why: string) => {
    if (cluster.isPrimary && code === undefined) stop(why)
  }
  const terminals = [0, 1, 2].filter((descriptor) => isatty(descriptor))
  const hungUp = () => terminals.length > 0 && !terminals.some((descriptor) => isatty(descriptor))
  process.on('SIGTERM', stop)
  process.on('SIGINT', cluster.isPrimary ? stop : () => undefined)
  process.on('SIGHUP', () => (hungUp() ? leave('the terminal was closed') : reload()))
  if (cluster.isPrimary && process.env['npm_lifecycle_event'] !== undefined)
    onOrphaned(() => leave('the npm that started this process has ended'))
  // Unhandled rejections arrive here, too.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught error: the process ends once the requests in progress are done')
    if (code === undefined) end(1)
    else code = 1
  })
}

/** Calls the listener once npm has ended: npm does not forward every signal, and a shell may run in between. */
function onOrphaned(listener: () => void): void {
  const before = ancestors()
  const looking = setInterval(() => {
    if (ancestors() === before) return
    clearInterval(looking)
    listener()
  }, lookout).unref()
}

/** The ids of the parent process and, if the system reports it, of the grandparent. */
function ancestors(): string {
  const { ppid, platform } = process
  if (platform !== 'linux') return `${ppid}`
  try {
    // proc(5): process id, name in parentheses, state, parent process id, and more.
    const stat = readFileSync(`/proc/${ppid}/stat`, 'latin1')
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return `${ppid} ${parent}`
  } catch {
    // The process has just ended.
    return ''
  }
}
