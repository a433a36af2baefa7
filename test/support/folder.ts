import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { shipped } from '../../engine/config/shipped.ts'
import { openGateway } from '../../engine/gateway.ts'
import type { Gateway } from '../../engine/gateway.ts'
import { makeLog } from '../../engine/telling/log.ts'
import { Secrets } from '../../engine/secrets/redaction.ts'
import { usualDatabase } from './services.ts'

/** A gateway over a folder of an operator, which watches it. */
export interface FolderGateway {
  readonly url: string
  readonly key: string
  readonly folder: string
  readonly engine: Gateway
  /** What was logged by the process so far. */
  readonly lines: readonly string[]
  /** Puts a file in the place of another in one step, as editors do. */
  write(path: string, text: string): Promise<void>
  /** Writes the configuration anew: the one it was started with and `more`. */
  configure(more: object): Promise<void>
  /** `GET /api/health/ready`. */
  ready(): Promise<{ status: number; body: { status: string; config: { version: string; error?: string } } }>
  ask(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  close(): Promise<void>
}

/**
 * Writes `files` to a new folder and starts a gateway there; `settings` are those of its configuration file. Pipelines
 * that they name take the place of the shipped ones.
 */
export async function startFolder(
  settings: object,
  files: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string>> = {},
): Promise<FolderGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-folder-'))
  const own = 'database' in settings ? undefined : await usualDatabase()
  const key = 'sk-folder-0123456789abcdef0123456789abcdef'
  const write = async (path: string, text: string) => {
    const target = join(folder, path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(`${target}.tmp`, text)
    await rename(`${target}.tmp`, target)
  }
  const configure = (more: object) =>
    write(
      'sluice.yaml',
      stringify({
        listen: { port: 0 },
        database: { url: own?.url ?? `sqlite:${join(folder, 'data', 'sluice.db')}` },
        api_keys: [{ name: 'test', key }],
        ...settings,
        ...more,
      }),
    )
  for (const [path, text] of Object.entries(files)) await write(path, text)
  await configure({})
  const lines: string[] = []
  const secrets = new Secrets()
  const log = makeLog({ level: 'info', secrets, destination: { write: (line) => lines.push(line) } })
  const engine = await openGateway({
    file: 'sluice.yaml',
    root: folder,
    environment,
    log,
    secrets,
    watch: true,
    strict: true,
    ...('pipelines' in settings ? { shipped: { plugins: shipped.plugins } } : {}),
  }).catch(async (error: unknown) => {
    await rm(folder, { recursive: true, force: true })
    throw error
  })
  const url = `http://127.0.0.1:${engine.address.port}`
  return {
    url,
    key,
    folder,
    engine,
    lines,
    write,
    configure,
    async ready() {
      const response = await fetch(`${url}/api/health/ready`)
      return { status: response.status, body: (await response.json()) as never }
    },
    ask: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
        body: JSON.stringify(body),
      }),
    async close() {
      await engine.close(1000)
      await own?.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A body of JSON, which may be an error. */
type Body = Record<string, unknown> & { readonly error?: { readonly code: string; readonly message: string } }

/** Asks a gateway with its key: `PATCH teams/staff` below `/api/`; a body goes as JSON. */
export async function callAt(
  { url, key }: Pick<FolderGateway, 'url' | 'key'>,
  route: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const [method = '', path = ''] = route.split(' ')
  const response = await fetch(`${url}/api/${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  const value = (text === '' ? undefined : JSON.parse(text)) as Body
  return { status: response.status, headers: response.headers, text, value }
}

/** The status, code and message of a refusal. */
export async function refusalAt(...asked: Parameters<typeof callAt>): Promise<string> {
  const { status, value } = await callAt(...asked)
  return `${status} ${value?.error?.code}: ${value?.error?.message}`
}
