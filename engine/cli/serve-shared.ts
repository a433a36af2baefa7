import cluster from 'node:cluster'
import type { Worker } from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { printDiagnostic } from '../config/diagnostics.ts'
import type { Configuration } from '../records/configuration.ts'
import { answerQuestions, replacing, tellAllServe } from '../live/first-process.ts'
import { emptyGateway } from '../live/gateway-host.ts'
import type { SafeGreeting } from '../services/greetings.ts'
import { openSnapshot } from '../live/snapshot.ts'
import type { Secrets } from '../secrets/redaction.ts'
import { productVersion } from '../version.ts'
import { endInOrder } from './ending.ts'
import { greet, introduce, serving } from './introduce.ts'
import { openOwnServices } from './own-services.ts'
import type { Systemd } from './sd-notify.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

/** Milliseconds before a process that ended unexpectedly is replaced. */
const pause = 1_000

/** Milliseconds that a process may take to load its configuration again, before systemd is told that it has done so. */
const patience = 60_000

export interface Shared {
  readonly options: CommonOptions
  readonly configuration: Configuration
  /** Number of serving processes. */
  readonly count: number
  readonly log: Logger
  readonly secrets: Secrets
  readonly terminal: Terminal
  readonly systemd: Systemd | undefined
}

/** What a serving process tells the first one after it has loaded a configuration. */
export interface Loaded {
  readonly sluice: 'loaded'
  /** Whether SIGHUP asked for it. */
  readonly asked: boolean
  /** Why the newest configuration is refused. */
  readonly error?: string
}

/**
 * Serves with several processes on one port. This process only starts the others, the first one alone, and replaces
 * those that end after they have served. Returns 1 when the first one cannot serve.
 */
export async function serveShared(shared: Shared): Promise<number> {
  const { options, configuration, count, log, secrets, terminal, systemd } = shared
  const { config: file, json } = options
  const { environment, folder: root } = terminal
  const gateway = emptyGateway(productVersion())
  const opened = await openSnapshot(configuration, { file, root, environment, gateway })
  if ('diagnostics' in opened) {
    for (const diagnostic of opened.diagnostics) log.error(printDiagnostic(diagnostic))
    return 1
  }
  const { settings } = opened.snapshot
  await opened.snapshot.close()
  secrets.protectUrl(settings.database.url)
  // Greetings come before any process serves, so that all processes see what was created, and before any other failure.
  const greetings = await greetingsOf({ ...configuration, settings }, { environment, folder: root, log, secrets })
  greet(greetings, json, terminal)

  let stopping = false
  let isComplete = false
  let address: AddressInfo | undefined
  const refusals = new Map<Worker, string>()
  const workers = () => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
  const sentence = () => {
    const at = { address: settings.listen.host, port: settings.listen.port, family: '', ...address }
    return serving(at, `${workers().length} processes`, [...refusals.values()][0])
  }
  endInOrder({
    log,
    async close() {
      stopping = true
      systemd?.stopping()
      await Promise.all(workers().map(end))
    },
    reload() {
      const reload = () => Promise.all(workers().map(reloaded)).then(sentence)
      void (systemd?.reload(reload) ?? reload())
    },
  })
  /** The address at which a new process listens; undefined if it ended before. */
  const start = (): Promise<AddressInfo | undefined> =>
    new Promise((resolve) => {
      const worker = cluster.fork(isComplete ? replacing : undefined)
      closeStrays(worker)
      answerQuestions(worker, () => stopping)
      worker.on('message', (message: Partial<Loaded> | null) => {
        if (message?.sluice !== 'loaded') return
        const { error } = message
        if (error === undefined) refusals.delete(worker)
        else refusals.set(worker, error)
        if (isComplete) systemd?.status(sentence())
      })
      worker.on('error', (error) => log.warn({ err: error }, 'a process cannot be reached'))
      let serves = false
      worker.once('listening', (address: AddressInfo) => {
        serves = true
        resolve(address)
      })
      worker.once('exit', (code, signal) => {
        resolve(undefined)
        refusals.delete(worker)
        if (stopping) return
        if (serves) {
          log.error({ code, signal }, 'a serving process ended and is replaced')
          setTimeout(() => void add(), pause)
          // A process that ends with 1 has already reported the reason.
        } else if (code !== 1) log.error({ code, signal }, 'a process ended before it served')
      })
    })
  const add = async () => {
    if (stopping) return
    // A replacement would fail in the same way. Once no process is left, this process ends with an error, too.
    if ((await start()) === undefined) process.exitCode = 1
  }
  const first = await start()
  if (first === undefined) return 1
  const reached = (address = { ...first, address: first.address ?? settings.listen.host })
  const introduced = introduce({ address: reached, snapshot: opened.snapshot, greetings }, json, terminal)
  // A greeting may take seconds, and no process waits for it.
  void Promise.all(Array.from({ length: count - 1 }, add)).then(() => {
    isComplete = true
    workers().forEach(tellAllServe)
    if (!stopping) systemd?.ready(sentence())
  })
  await introduced
  return 0
}

/** An internal message of Node about handing a connection to a process. */
interface Handing {
  readonly seq?: number
  readonly ack?: number
}

/**
 * Closes the connections that were being handed to a process when it died. Node closes its own end of a connection when
 * the process confirms it; a dead process never does, and the client would wait forever.
 */
function closeStrays({ process: child }: Worker): void {
  const underWay = new Map<number, { close(): void }>()
  const send = child.send.bind(child) as (...words: readonly unknown[]) => boolean
  child.send = (message: Handing, connection?: unknown, ...rest: readonly unknown[]) => {
    if (message.seq !== undefined && isConnection(connection)) underWay.set(message.seq, connection)
    return send(message, connection, ...rest)
  }
  child.on('internalMessage', ({ ack }: Handing) => ack !== undefined && underWay.delete(ack))
  child.once('exit', () => underWay.forEach((connection) => connection.close()))
}

function isConnection(value: unknown): value is { close(): void } {
  return typeof value === 'object' && value !== null && 'close' in value
}

/** Has a serving process load its configuration again, and waits until it has done so, or has ended. */
async function reloaded(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const look = (message: Partial<Loaded> | null) => {
    if (message?.sluice === 'loaded' && message.asked) resolve()
  }
  worker.on('message', look).once('exit', () => resolve())
  worker.process.kill('SIGHUP')
  const late = setTimeout(resolve, patience).unref()
  await promise
  clearTimeout(late)
  worker.off('message', look)
}

/** Ends a process gracefully and waits for it. */
async function end(worker: Worker): Promise<void> {
  if (worker.isDead()) return
  worker.process.kill('SIGTERM')
  await once(worker, 'exit')
}

/** The greetings of services; services with greetings are opened for them. */
async function greetingsOf(
  configuration: Parameters<typeof openOwnServices>[1],
  own: Parameters<typeof openOwnServices>[2],
): Promise<readonly SafeGreeting[]> {
  const services = [...configuration.registry.services.values()]
  const names = services.flatMap((service) => (service.greet ? [service.name] : []))
  if (names.length === 0) return []
  await using views = await openOwnServices({ uses: names }, configuration, own)
  // The first serving process reports the findings.
  if (views.diagnostics.length > 0) return []
  views.live()
  return await views.greet()
}
