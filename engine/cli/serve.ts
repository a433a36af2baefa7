import cluster from 'node:cluster'
import { subscribe } from 'node:diagnostics_channel'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { readSource } from '../config/source.ts'
import { ConfigurationError, openGateway } from '../gateway.ts'
import type { Gateway } from '../gateway.ts'
import { loadConfiguration } from '../live/load-configuration.ts'
import { makeLog } from '../telling/log.ts'
import { duration } from '../spec/duration.ts'
import { isObject } from '../spec/json.ts'
import { StartError } from '../store/database.ts'
import { Secrets } from '../secrets/redaction.ts'
import { endInOrder } from './ending.ts'
import { greet, introduce, serving } from './introduce.ts'
import type { Loaded } from './serve-shared.ts'
import type { CommonOptions, Terminal } from './terminal.ts'
import type { Logger } from 'pino'

export interface ServeOptions extends CommonOptions {
  readonly watch: boolean
}

/** Serves until a signal arrives. Returns the exit code if it cannot start. */
export async function serve(options: ServeOptions, terminal: Terminal): Promise<number> {
  const { config: file, watch, json } = options
  const { environment, folder: root } = terminal
  const secrets = new Secrets()
  const log = makeLog({ level: 'info', secrets, text: terminal.interactive && !json })
  // Only the first process has the variable: the others do not inherit it.
  const systemd = environment['NOTIFY_SOCKET']
    ? (await import('./sd-notify.ts')).openSystemd(environment, log)
    : undefined
  if (cluster.isPrimary && (await saysWorkers(file, terminal))) {
    const configuration = await loadConfiguration({ file, root, environment })
    const workers = configuration.settings?.listen.workers ?? 1
    const count = workers === 'auto' ? availableParallelism() : workers
    if (count > 1) {
      const { serveShared } = await import('./serve-shared.ts')
      return serveShared({ options, configuration, count, log, secrets, terminal, systemd })
    }
  }
  let gateway: Gateway
  try {
    gateway = await openGateway({ file, root, environment, log, secrets, watch })
  } catch (error) {
    if (!(error instanceof ConfigurationError || error instanceof StartError)) throw error
    // Findings in the configuration are already in the log.
    if (error instanceof StartError) terminal.error(`sluice cannot start: ${error.message}`)
    // Otherwise the channel to the parent process would keep it alive.
    if (cluster.isWorker) process.exit(1)
    return 1
  }
  const sentence = () => {
    const { version, error } = gateway.live.status
    return serving(gateway.address, `configuration ${version}`, error)
  }
  const reload = async () => {
    await reloaded(gateway, log)
    tellFirst(gateway, true)
    return sentence()
  }
  endInOrder({
    log,
    close(sound) {
      systemd?.stopping()
      const { notice, deadline } = gateway.live.current.settings.shutdown
      return gateway.close(duration(deadline), sound && !terminal.interactive ? duration(notice) : 0)
    },
    reload: () => void (systemd?.reload(reload) ?? reload()),
  })
  subscribe('sluice:reload:end', () => {
    systemd?.status(sentence())
    tellFirst(gateway, false)
  })
  systemd?.ready(sentence())
  log.info({ version: gateway.live.current.version }, 'the configuration is live')
  if (cluster.isPrimary) {
    const snapshot = gateway.live.current
    const greetings = await snapshot.views.greet()
    greet(greetings, json, terminal)
    await introduce({ address: gateway.address, snapshot, greetings }, json, terminal)
  }
  // The start ends here: until then the process limits its memory.
  await gateway.warm
  return 0
}

/** In a process that shares its port: tells the first one whether this one serves the newest configuration. */
function tellFirst({ live }: Gateway, asked: boolean): void {
  const { error } = live.status
  const message: Loaded = { sluice: 'loaded', asked, ...(error === undefined ? {} : { error }) }
  if (cluster.worker?.isConnected()) cluster.worker.send(message)
}

async function reloaded({ live }: Gateway, log: Logger): Promise<void> {
  try {
    await live.reload()
  } catch (error) {
    log.error({ err: error }, 'the configuration could not be read again')
  }
}

/** Whether the configuration file may ask for several processes: only then it has to be loaded here first. */
async function saysWorkers(file: string, { environment, folder }: Terminal): Promise<boolean> {
  // Later loading reports a file that cannot be read.
  const text = await readFile(resolve(folder, file), 'utf8').catch(() => '')
  // Parsing YAML is slow, and most configurations do not mention workers.
  if (!text.includes('workers')) return false
  const { value } = readSource(file, text, environment).source
  const listen = isObject(value) ? value['listen'] : undefined
  return isObject(listen) && (listen['workers'] ?? 1) !== 1
}
