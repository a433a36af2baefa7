import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { shipped } from '../../engine/config/shipped.ts'
import { openGateway } from '../../engine/gateway.ts'
import type { Gateway } from '../../engine/gateway.ts'
import { httpLimits } from '../../engine/config/limits.ts'
import type { HttpLimits, SocketLimits } from '../../engine/config/limits.ts'
import { makeLog } from '../../engine/telling/log.ts'
import { Secrets } from '../../engine/secrets/redaction.ts'
import type { RequestsTable } from '../../plugins/request-log/table.ts'
import { usualDatabase } from './services.ts'
import { tablesOf } from './tables.ts'
import { until } from './until.ts'

/** A gateway of its own: the shipped plugins and pipelines, a database in a temporary folder, a free port. */
export interface RunningGateway {
  readonly url: string
  /** An API key that may use every model. */
  readonly key: string
  readonly engine: Gateway
  /** What was logged by the process so far, one JSON object per line. */
  readonly lines: readonly string[]
  /**
   * The request log, oldest first, once every row so far is written and there are `least` of them. A client that leaves,
   * or is told of an error, hears nothing of when its exchange is over: how many rows there will be is what to wait for.
   */
  rows(least?: number): Promise<readonly RequestsTable[]>
  /** The first row of the request log that fits, once it is written. */
  row(fits: (row: RequestsTable) => boolean): Promise<RequestsTable>
  /** A request with the key; `body` goes as JSON. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  close(): Promise<void>
}

/** The configuration of a test gateway, in the words of the configuration file. */
export interface GatewaySettings {
  readonly providers?: readonly object[]
  readonly models?: readonly object[]
  readonly api_keys?: readonly object[]
  /** Further fields of the gateway's own API key. */
  readonly key_fields?: object
  /** Lists of records that plugins declare, by their places. */
  readonly records?: object
  /** Sections of the settings. */
  readonly server_config?: object
  /** Further plugins beside the shipped ones: files or folders. */
  readonly plugins?: readonly string[]
  /** Folder of pipelines in place of the shipped ones. */
  readonly pipelines?: string
  /** How long clients may take. */
  readonly client_timeouts?: object
  /** The shared key-value store; absent: there is none. */
  readonly key_value?: { readonly url: string }
  /** Address of a database that outlives the gateway, instead of a file in its folder. */
  readonly database?: string
  readonly environment?: Record<string, string>
  /** Where the database is, instead of a folder of its own; it outlives the gateway. */
  readonly folder?: string
  /** Limits that differ from the usual ones. */
  readonly limits?: Partial<Omit<HttpLimits, 'sockets'>> & { readonly sockets?: Partial<SocketLimits> }
}

/** Starts a gateway. Close it when done. */
export async function startGateway(settings: GatewaySettings = {}): Promise<RunningGateway> {
  const folder = settings.folder ?? (await mkdtemp(join(tmpdir(), 'sluice-gateway-')))
  const own = settings.database === undefined && settings.folder === undefined ? await usualDatabase() : undefined
  const key = 'sk-test-0123456789abcdef0123456789abcdef'
  const file = join(folder, 'sluice.yaml')
  const {
    providers = [{ name: 'echo', type: 'echo' }],
    models = [{ name: 'echo', provider: 'echo' }],
    api_keys: keys = [],
    plugins = [],
  } = settings
  await writeFile(
    file,
    stringify({
      listen: { port: 0 },
      database: { url: settings.database ?? own?.url ?? `sqlite:${join(folder, 'sluice.db')}` },
      plugins,
      ...(settings.pipelines === undefined ? {} : { pipelines: settings.pipelines }),
      providers,
      models,
      api_keys: [{ name: 'test', key, ...settings.key_fields }, ...keys],
      ...settings.records,
      ...(settings.server_config ? { server_config: settings.server_config } : {}),
      ...(settings.client_timeouts ? { client_timeouts: settings.client_timeouts } : {}),
      ...(settings.key_value ? { key_value: settings.key_value } : {}),
    }),
  )
  const lines: string[] = []
  const secrets = new Secrets()
  const log = makeLog({ level: 'info', secrets, destination: { write: (line) => lines.push(line) } })
  const { sockets, ...others } = settings.limits ?? {}
  const limits = { ...others, ...(sockets ? { sockets: { ...httpLimits.sockets, ...sockets } } : {}) }
  const engine = await openGateway({
    file,
    root: folder,
    environment: settings.environment ?? {},
    log,
    secrets,
    strict: true,
    limits,
    ...(settings.pipelines === undefined ? {} : { shipped: { plugins: shipped.plugins } }),
  })
  const url = `http://127.0.0.1:${engine.address.port}`
  const written = async () => {
    await engine.flush()
    return tablesOf(engine.database).selectFrom('requests').selectAll().orderBy('at').orderBy('id').execute()
  }
  return {
    url,
    key,
    engine,
    lines,
    async rows(least = 0) {
      let rows: readonly RequestsTable[] = []
      await until(async () => (rows = await written()).length >= least)
      return rows
    },
    async row(fits) {
      let row: RequestsTable | undefined
      await until(async () => (row = (await written()).find(fits)) !== undefined)
      return row as RequestsTable
    },
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify(body),
      }),
    async close() {
      await engine.close(1000)
      await own?.stop()
      if (settings.folder === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}
