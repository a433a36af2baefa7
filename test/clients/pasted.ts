import { spawn } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { keyVariable } from '../../console/src/quick-start/index.ts'
import type { Client } from '../../console/src/quick-start/index.ts'

/** Where a client finds the gateway, and its key. */
export interface At {
  readonly url: string
  readonly key: string
}

/** What a client printed, and how it ended. */
export interface Ran {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

/** What is there for a client to run with. */
export interface Around {
  /** Folders with programs, before those of the machine. */
  readonly programs?: readonly string[]
  /** A `node_modules` for what the client imports. */
  readonly packages?: string
  /** Further environment. */
  readonly environment?: Readonly<Record<string, string>>
  /** Texts by their path, before what the client pastes there: what only a test sets. */
  readonly before?: Readonly<Record<string, string>>
}

/** Milliseconds. */
const deadline = 120_000
/** Nothing listens there: what a client asks of anyone but the gateway goes nowhere. */
const nowhere = 'http://127.0.0.1:9'

/**
 * Does what the quick start says: puts its texts to their places in an empty home, runs what is for the shell, and then
 * `check`, by default the client's own line.
 */
export async function runPasted(
  client: Client,
  at: At,
  model: string,
  around: Around = {},
  check?: string,
): Promise<Ran> {
  const home = await mkdtemp(join(tmpdir(), 'sluice-client-'))
  try {
    const place = { origin: at.url, model }
    const lines: string[] = []
    for (const [path, text] of Object.entries(around.before ?? {})) await append(home, path, text)
    for (const { path, text } of client.pastes) {
      if (path === null) lines.push(text(place))
      else await append(home, path, text(place))
    }
    if (around.packages) await symlink(around.packages, join(home, 'node_modules'))
    return await shell([...lines, check ?? client.check(place)].join('\n'), home, at.key, around)
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function append(home: string, path: string, text: string): Promise<void> {
  const file = join(home, path.replace(/^~\//, ''))
  await mkdir(dirname(file), { recursive: true })
  await appendFile(file, text)
}

function shell(script: string, home: string, key: string, around: Around): Promise<Ran> {
  const path = [...(around.programs ?? []), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  const proxies = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, ALL_PROXY: nowhere, NO_PROXY: '127.0.0.1' }
  const env = { PATH: path, HOME: home, ...proxies, [keyVariable]: key, ...around.environment }
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-ec', script], {
      cwd: home,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: deadline,
    })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output, errors }))
  })
}
