import cluster from 'node:cluster'
import { readFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { Logger } from 'pino'

/** Milliseconds in which the same Ctrl-C comes a second time, from a parent that hands it on. */
const echo = 250

/** Milliseconds between two looks for the npm that started this process. */
const lookout = 1_000

/** What signals do. */
export interface Ending {
  /**
   * Lets requests under way finish.
   * @param sound the process may take further requests for a while
   */
  readonly close: (sound: boolean) => Promise<void>
  /** Reads the configuration again. Never rejects. */
  readonly reload: () => void
  readonly log: Logger
}

/**
 * Ends the process in good order on a signal (exit code 0), when the terminal or the npm that it was started from is
 * gone, or after an error that nobody caught (1). A second signal ends it at once. SIGHUP of a terminal that is still
 * there, or of none, has the configuration read again. A process that shares its port leaves Ctrl-C to the one that
 * started it, and waits as long as that one does.
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
  // Rejections that nobody handles come here too.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught: the process ends once requests under way are done')
    if (code === undefined) end(1)
    else code = 1
  })
}

/** Calls back once the npm above has ended: it does not hand every signal on, and a shell may stand in between. */
function onOrphaned(listener: () => void): void {
  const before = ancestors()
  const looking = setInterval(() => {
    if (ancestors() === before) return
    clearInterval(looking)
    listener()
  }, lookout).unref()
}

/** Numbers of the process above and, where the system tells, of the one above that. */
function ancestors(): string {
  const { ppid, platform } = process
  if (platform !== 'linux') return `${ppid}`
  try {
    // proc(5): its number, its name in brackets, its state, the number of its parent, and more.
    const stat = readFileSync(`/proc/${ppid}/stat`, 'latin1')
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return `${ppid} ${parent}`
  } catch {
    // It ended in this moment.
    return ''
  }
}
