import { readFile } from 'node:fs/promises'
import { get } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { defaultConfigFile } from '../config/shipped.ts'
import { readSource } from '../config/source.ts'
import { duration, isDuration } from '../spec/duration.ts'
import { isObject } from '../spec/json.ts'
import type { Json, JsonObject } from '../spec/json.ts'
import { WrongUse } from './terminal.ts'
import type { CommonOptions, Terminal } from './terminal.ts'

export interface HealthOptions extends CommonOptions {
  /** Address of the gateway; absent: that of the environment and the configuration. */
  readonly url?: string
  /** Duration, such as `3s`. */
  readonly timeout: string
}

/** Where the gateway should answer. */
interface Place {
  readonly url: string
  /** Why the address may be another one; undefined: it is known. */
  readonly doubt?: string
}

/** What the gateway answered. */
interface Answer {
  readonly status: number
  readonly body: string
}

const route = '/api/health/ready'

/** Maximum bytes of an answer. */
const most = 64 * 1024

/** What is known of a gateway without a configuration. */
const usual = { host: '127.0.0.1', port: 8080 }

/** The address that reaches what listens on all of them. */
const loopback: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

const reasons: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'nothing listens there'],
  ['ECONNRESET', 'the connection was closed without an answer'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['EHOSTUNREACH', 'the host cannot be reached'],
])

/**
 * Asks a running gateway whether it accepts requests. Loads no plugin and opens nothing, so that a container can run it
 * every few seconds. Returns the exit code: 0 if it answers 200, otherwise 1. Throws `WrongUse`.
 */
export async function health(options: HealthOptions, terminal: Terminal): Promise<number> {
  if (!isDuration(options.timeout) || duration(options.timeout) === 0)
    throw new WrongUse('--timeout must be a number and its unit (ms, s or m), such as 3s')
  const { url, doubt } = options.url === undefined ? await placeOf(options, terminal) : { url: given(options.url) }
  const fail = (why: string) => {
    terminal.error(`sluice: ${url} is not ready: ${why}${doubt === undefined ? '' : ` (${doubt})`}`)
    return 1
  }
  const signal = AbortSignal.timeout(duration(options.timeout))
  let answer: Answer
  try {
    answer = await ask(url + route, signal)
  } catch (error) {
    // Node reports what is aborted within an answer as a closed connection.
    if (signal.aborted) return fail(`no answer within ${options.timeout}`)
    const { code, message } = error as NodeJS.ErrnoException
    return fail(reasons.get(code ?? '') ?? (message || String(code)))
  }
  if (options.json) terminal.out(answer.body.trimEnd())
  if (answer.status !== 200) return fail(`it answered ${answer.status}${wordIn(answer.body)}`)
  if (!options.json) terminal.out(`${url} is ready`)
  return 0
}

/** The address of an option, without its last slash. */
function given(url: string): string {
  const { protocol, search = '', hash = '', username = '' } = URL.canParse(url) ? new URL(url) : { protocol: '' }
  if (!/^https?:$/.test(protocol) || search + hash + username !== '')
    throw new WrongUse('--url must be an address such as http://127.0.0.1:8080')
  return url.replace(/\/$/, '')
}

/** The address at which the gateway of this folder listens. The environment takes precedence over the configuration. */
async function placeOf({ config: file }: CommonOptions, { environment, folder }: Terminal): Promise<Place> {
  const { HOST, PORT } = environment
  const { listen, doubt } = HOST && PORT ? {} : await listenOf(file, folder, environment)
  const port = portOf(PORT || (listen?.['port'] ?? usual.port), PORT ? 'PORT' : 'listen.port')
  const host = HOST || (listen?.['host'] ?? usual.host)
  if (typeof host !== 'string' || host === '') throw new WrongUse('listen.host must be a text')
  const reached = loopback.get(host) ?? host
  const url = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
  if (!URL.canParse(url)) throw new WrongUse(`"${host}" is no host`)
  return { url, ...(doubt === undefined ? {} : { doubt }) }
}

function portOf(value: Json, where: string): number {
  // Variables come as texts.
  const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value
  if (port === 0) throw new WrongUse(`${where} is 0, so the port is known to nobody: name the gateway with --url`)
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw new WrongUse(`${where} must be a port`)
  return port
}

/**
 * The section `listen` of the configuration as it stands. A gateway goes on serving beside a broken file, so a file that
 * cannot be read is no failure yet.
 */
async function listenOf(
  file: string,
  folder: string,
  environment: Terminal['environment'],
): Promise<{ listen?: JsonObject; doubt?: string }> {
  let text: string
  try {
    text = await readFile(resolve(folder, file), 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error)
    return code === 'ENOENT' && file === defaultConfigFile ? {} : { doubt: `${file} cannot be read: ${code}` }
  }
  const { source, diagnostics } = readSource(file, text, environment)
  if (source.value === null && diagnostics.length > 0) return { doubt: `${file} is no YAML` }
  const listen = isObject(source.value) ? source.value['listen'] : undefined
  return isObject(listen) ? { listen } : {}
}

/** One request on a connection of its own, past any proxy of the environment. */
async function ask(url: string, signal: AbortSignal): Promise<Answer> {
  const request = url.startsWith('https:') ? (await import('node:https')).get : get
  const options = { agent: false as const, signal, headers: { accept: 'application/json' } }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(url, options, resolve).on('error', reject)
  const response = await promise
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > most) throw new Error(`its answer is larger than ${most} bytes`)
    chunks.push(chunk)
  }
  return { status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }
}

/** The word of the gateway in its own answer. */
function wordIn(body: string): string {
  const [, word] = /^\{"status":"([a-z]{1,16})"/.exec(body) ?? []
  return word === undefined ? '' : `, which means: ${word}`
}
