import cluster from 'node:cluster'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import type { Logger } from 'pino'
import { readSource } from '../config/source.ts'
import { ConfigurationError, openHouse } from '../house.ts'
import type { House } from '../house.ts'
import { makeLog } from '../log.ts'
import { StartError } from '../store/database.ts'
import { isObject } from '../spec/json.ts'
import { Secrets } from '../store/redaction.ts'

export interface ServeOptions {
  readonly config: string
  readonly watch: boolean
  readonly json: boolean
}

/** Serves until a signal ends it. Answers the exit code when it cannot begin. */
export async function serve(options: ServeOptions): Promise<number> {
  const secrets = new Secrets()
  const log = makeLog({ level: 'info', secrets })
  if (cluster.isPrimary) {
    const workers = await wantedWorkers(options.config)
    if (workers > 1) return (await import('./serve-shared.ts')).serveShared(options, workers, log, secrets)
  }
  let house: House
  try {
    house = await openHouse({ file: options.config, environment: process.env, log, secrets, watch: options.watch })
  } catch (error) {
    if (
      !(error instanceof ConfigurationError || error instanceof StartError) &&
      (error as NodeJS.ErrnoException).code !== 'EADDRINUSE'
    )
      throw error
    // The findings are in the log already when it was the configuration.
    if (!(error instanceof ConfigurationError)) console.error(`sluice cannot start: ${(error as Error).message}`)
    return 1
  }
  stopOnSignal(() => house.close(), log)
  if (cluster.isPrimary)
    introduce(
      urlOf(house.address),
      await house.keys.ensureFirstKey(),
      house.live.current.catalog.models[0]?.name,
      options.json,
    )
  return 0
}

/** How many processes the configuration file asks for; what is wrong with the file is for those who load it. */
async function wantedWorkers(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const { value } = readSource(file, text, process.env).source
  const listen = isObject(value) ? value['listen'] : undefined
  const workers = isObject(listen) ? listen['workers'] : undefined
  return workers === 'auto' ? availableParallelism() : typeof workers === 'number' ? workers : 1
}

/** The first signal lets requests finish, the second does not. */
export function stopOnSignal(close: () => Promise<void>, log: Logger): void {
  let stopping = false
  const stop = (signal: string) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info({ signal }, 'stopping: requests under way may finish')
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.fatal({ err: error }, 'stopping failed')
        process.exit(1)
      },
    )
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
}

export function urlOf({ address, port }: AddressInfo): string {
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`
}

/** Says where it serves and, the first time, with which key. */
export function introduce(url: string, key: string | undefined, model: string | undefined, json: boolean): void {
  if (json) {
    console.log(JSON.stringify({ url, ...(key === undefined ? {} : { key }) }))
    return
  }
  console.log(`Sluice serves on ${url}`)
  if (key === undefined) return
  console.log(`
An API key was made for you. It is shown this once:

  ${key}

Try it:

  curl ${url}/v1/chat/completions \\
    -H 'authorization: Bearer ${key}' \\
    -H 'content-type: application/json' \\
    -d '{"model": "${model ?? 'echo'}", "messages": [{"role": "user", "content": "Hello, world"}]}'
`)
}
