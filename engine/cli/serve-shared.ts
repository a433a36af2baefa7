import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { emptyHouse } from '../live/services.ts'
import { loadSnapshot } from '../live/snapshot.ts'
import { printDiagnostic } from '../config/diagnostics.ts'
import { openDatabase } from '../store/database.ts'
import { ApiKeys } from '../store/keys.ts'
import type { Secrets } from '../store/redaction.ts'
import { productVersion } from '../version.ts'
import { introduce, stopOnSignal, urlOf } from './serve.ts'
import type { ServeOptions } from './serve.ts'

/** Milliseconds before a process that ended by itself is replaced. */
const pause = 1_000

/** Serves with `count` processes on one port. This one serves nothing: it starts the others and replaces those that end. */
export async function serveShared(
  options: ServeOptions,
  count: number,
  log: Logger,
  secrets: Secrets,
): Promise<number> {
  const loaded = await loadSnapshot({
    file: options.config,
    environment: process.env,
    house: emptyHouse(productVersion()),
  })
  if ('diagnostics' in loaded) {
    for (const diagnostic of loaded.diagnostics) log.error(printDiagnostic(diagnostic))
    return 1
  }
  const { settings, catalog } = loaded.snapshot
  secrets.protectUrl(settings.database.url)
  const key = await firstKey(settings)
  await loaded.snapshot.close()

  let stopping = false
  const start = async (): Promise<AddressInfo> => {
    const worker = cluster.fork()
    worker.once('exit', (code) => {
      if (stopping) return
      log.error({ code }, 'a serving process ended and is replaced')
      setTimeout(() => void start(), pause)
    })
    const [address] = (await once(worker, 'listening')) as [AddressInfo]
    return address
  }
  stopOnSignal(async () => {
    stopping = true
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)
    await Promise.all(
      workers.map((worker) => {
        worker.process.kill('SIGTERM')
        return once(worker, 'exit')
      }),
    )
  }, log)
  const [first] = await Promise.all(Array.from({ length: count }, start))
  if (first)
    introduce(
      urlOf({ ...first, address: first.address ?? settings.listen.host }),
      key,
      catalog.models[0]?.name,
      options.json,
    )
  return 0
}

/** Made before any process serves, so that all of them know it from the start. */
async function firstKey({
  database: { url },
  api_keys: declared,
}: {
  readonly database: { readonly url: string }
  readonly api_keys: readonly { name: string; key: string }[]
}) {
  const database = await openDatabase(url)
  try {
    const keys = new ApiKeys(database)
    keys.declare(declared)
    return await keys.ensureFirstKey()
  } finally {
    await database.close()
  }
}
