import { statSync, watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import type { Live } from './live.ts'

/** Milliseconds without a further change before the configuration is reloaded: editors write in several steps. */
const quiet = 100

/** Files that change next to a configuration but are not part of it. */
const foreign = /\.(db|sqlite3?)(-\w{1,16})?$|\.(log|sw[a-z]|tmp)$|~$/

/**
 * Reloads when a file of the configuration, its pipelines or its plugin folders changes. Folders are watched instead of
 * files: a watcher on a file would miss its replacement. Returns a function that stops watching.
 */
export function watchConfiguration(live: Live, log: Logger): () => void {
  const watchers = new Map<string, { readonly watcher: FSWatcher; readonly inode: number }>()
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const changed = (name: string | null) => {
    if (stopped || (name !== null && foreign.test(name))) return
    clearTimeout(timer)
    timer = setTimeout(() => void reload(), quiet)
  }
  const reload = async () => {
    try {
      await live.reloadIfChanged()
    } catch (error) {
      log.error({ err: error }, 'the configuration could not be read again')
    }
    if (!stopped) listen()
  }
  const forget = (folder: string) => {
    watchers.get(folder)?.watcher.close()
    watchers.delete(folder)
  }
  const listen = () => {
    const wanted = new Map(live.folders.map(present))
    for (const [folder, { inode }] of watchers) if (wanted.get(folder) !== inode) forget(folder)
    for (const [folder, inode] of wanted) {
      if (watchers.has(folder)) continue
      let watcher: FSWatcher
      try {
        watcher = watch(folder, (_, name) => changed(name))
      } catch (error) {
        // The operating system limits the number of watchers.
        log.warn({ err: error, folder }, 'a folder of the configuration cannot be watched: send SIGHUP to reload')
        continue
      }
      watcher.on('error', (error) => {
        log.warn({ err: error, folder }, 'a folder of the configuration can no longer be watched')
        forget(folder)
        changed(null)
      })
      watchers.set(folder, { watcher, inode })
      // Changes in the folder before it was watched were missed.
      changed(null)
    }
  }
  listen()
  return () => {
    stopped = true
    clearTimeout(timer)
    for (const folder of watchers.keys()) forget(folder)
  }
}

/** The folder, or its nearest existing ancestor, with the inode that identifies it. */
function present(folder: string): [string, number] {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found === undefined ? present(dirname(folder)) : [folder, found.ino]
}
