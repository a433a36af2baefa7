// The entry point `sluice/testing`: a gateway for the tests of plugins.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { parse } from 'yaml'
import { hookModules } from './workers/modules.ts'
import { shipped } from './config/shipped.ts'
import { scriptedUpstream } from './conformance/upstream.ts'
import type { ScriptedUpstream } from './conformance/upstream.ts'
import { openGateway as serve } from './gateway.ts'
import type { Gateway } from './gateway.ts'
import { parseJson } from './json/parse.ts'
import { makeLog } from './telling/log.ts'
import type { Role } from './spec/access.ts'
import { Secrets } from './secrets/redaction.ts'

/** A gateway for tests, on a free port and with a database that goes with it. */
export interface TestGateway {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** An API key that may use every model. */
  readonly key: string
  /** The upstream of the provider `scripted`. Until `answer` tells it more, it answers 500. */
  readonly upstream: Omit<ScriptedUpstream, 'close'>
  /** A session token of a member of this role, for the admin API. */
  signIn(role: Role): Promise<string>
  close(): Promise<void>
}

/** What a test gateway is opened with. */
export interface TestGatewayOptions {
  /**
   * The configuration, in the words of the configuration file. A provider and a model `scripted` are added to its
   * lists; a provider of that name may be of another type, and gets the upstream's address as `base_url`.
   */
  readonly config?: Readonly<Record<string, unknown>>
  /** Default exports of plugins, or paths: absolute, or relative to the working directory. Packages go by their names. */
  readonly plugins?: readonly (string | object)[]
}

type Named = Readonly<Record<string, unknown>> & { readonly name: string }

/** @internal Default exports under test. A file that the configuration names exports each of them. */
export const given: object[] = []

// A plugin that is imported from now on gets this engine, also in a checkout.
hookModules()

/**
 * Opens a gateway with the shipped plugins and pipelines, and those of the test. Stages that give other slots than they
 * declare fail. Errors are logged to standard error. Rejects with the findings of the configuration.
 */
export async function openGateway({ config = {}, plugins = [] }: TestGatewayOptions = {}): Promise<TestGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-testing-'))
  const upstream = await scriptedUpstream()
  const discard = async () => {
    await upstream.close()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const key = `sk-testing-${randomBytes(16).toString('hex')}`
    const entries = await Promise.all(plugins.map((plugin, index) => entryOf(plugin, folder, index)))
    const file = join(folder, 'sluice.yaml')
    await writeFile(file, JSON.stringify(await completed(config, entries, { folder, key, url: upstream.url })))
    const secrets = new Secrets()
    const { logging } = (config['server_config'] ?? {}) as { readonly logging?: unknown }
    // A section of the file could not be changed by the admin API.
    const log = makeLog({ level: 'error', fixed: logging === undefined, secrets, text: true })
    const gateway = await serve({ file, root: folder, environment: {}, log, secrets, strict: true })
    const url = `http://127.0.0.1:${gateway.address.port}`
    return {
      url,
      key,
      upstream,
      signIn: signingIn(gateway, url),
      async close() {
        try {
          await gateway.close(1000)
        } finally {
          await discard()
        }
      },
    }
  } catch (error) {
    await discard()
    throw error
  }
}

/** The entry of `plugins:` for a plugin. */
async function entryOf(plugin: string | object, folder: string, index: number): Promise<string> {
  if (typeof plugin === 'string') return placed(plugin)
  const file = join(folder, `plugin-${index + 1}.js`)
  const at = given.push(plugin) - 1
  await writeFile(file, `import { given } from ${JSON.stringify(import.meta.url)}\nexport default given[${at}]\n`)
  return file
}

/** A path of a test, which is relative to its working directory. */
function placed(path: string): string {
  return path.startsWith('.') ? resolve(path) : path
}

async function completed(
  config: Readonly<Record<string, unknown>>,
  plugins: readonly string[],
  { folder, key, url }: { readonly folder: string; readonly key: string; readonly url: string },
): Promise<object> {
  const usual = parse(await readFile(join(dirname(shipped.config), 'testing.yaml'), 'utf8')) as Record<string, Named[]>
  const listed = (place: string) => {
    const own = (config[place] ?? []) as readonly Named[]
    return [...own, ...(usual[place] ?? []).filter(({ name }) => !own.some((one) => one.name === name))]
  }
  const { pipelines } = config
  return {
    ...config,
    listen: { host: '127.0.0.1', port: 0 },
    database: { url: `sqlite:${join(folder, 'sluice.db')}` },
    plugins: [...((config['plugins'] ?? []) as readonly string[]).map(placed), ...plugins],
    ...(typeof pipelines === 'string' && !isAbsolute(pipelines) ? { pipelines: resolve(pipelines) } : {}),
    providers: listed('providers').map((one) => (one.name === 'scripted' ? { base_url: url, ...one } : one)),
    models: listed('models'),
    api_keys: [{ name: 'testing', key }, ...((config['api_keys'] ?? []) as readonly Named[])],
  }
}

/** Signs members in through the admin API, as people do. */
function signingIn(gateway: Gateway, url: string): TestGateway['signIn'] {
  const password = `${randomBytes(16).toString('hex')} of a test`
  const ask = async (path: string, body: object, token?: string): Promise<Readonly<Record<string, unknown>>> => {
    const headers = {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
    const response = await fetch(`${url}/api/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`POST /api/${path} answered ${response.status}: ${text}`)
    return parseJson(text) as Readonly<Record<string, unknown>>
  }
  const tokens = new Map<Role, Promise<string>>()
  const once = (role: Role): Promise<string> => {
    const token = tokens.get(role) ?? (role === 'admin' ? setUp() : enter())
    tokens.set(role, token)
    return token
  }
  const setUp = async () => {
    const { views, catalog } = gateway.live.current
    const said = await Promise.all((await views.greet()).map((greeting) => greeting.served({ url, catalog })))
    const [, token] = said.map((line) => /#token=([\w-]+)/.exec(line?.json ?? '')).find((found) => found !== null) ?? []
    return String((await ask('auth/setup', { token, username: 'admin', password }))['token'])
  }
  const enter = async () => {
    await ask('team/members', { username: 'viewer', role: 'viewer', password }, await once('admin'))
    return String((await ask('auth/login', { username: 'viewer', password }))['token'])
  }
  return once
}
