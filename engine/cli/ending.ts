import cluster from 'node:cluster'
import type { Logger } from 'pino'

/** Milliseconds in which the same Ctrl-C comes a second time, from a parent that hands it on. */
const echo = 250

/**
 * Ends the process in good order on a signal (exit code 0) or after an error that nobody caught (1): `close` lets
 * requests under way finish, and takes further ones for a while only where the process is sound. A second signal ends it at once. A process that shares its port leaves Ctrl-C to the one
 * that started it, and waits as long as that one does.
 */
export function endInOrder(close: (sound: boolean) => Promise<void>, log: Logger): void {
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
  const stop = (signal: string) => {
    if (code === undefined) {
      log.info({ signal }, 'stopping: requests under way may finish')
      end(0)
    } else if (cluster.isPrimary && performance.now() - since > echo) process.exit(1)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', cluster.isPrimary ? stop : () => undefined)
  // Rejections that nobody handles come here too.
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an error that nobody caught: the process ends once requests under way are done')
    if (code === undefined) end(1)
    else code = 1
  })
}
