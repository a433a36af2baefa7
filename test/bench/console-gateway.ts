import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openDatabase } from '../../engine/store/database.ts'
import { askAt, password, viewOf } from '../support/admin.ts'
import type { Ask } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import { fillLog } from './filled-log.ts'
import { benchKey } from './targets.ts'

const root = join(import.meta.dirname, '..', '..')

/** A gateway in a process of its own, with a long log and a long audit trail, and an admin who is signed in. */
export interface FilledGateway {
  readonly url: string
  readonly pid: number
  /** What `POST /api/auth/login` answered. */
  readonly session: object
  readonly asAdmin: Ask
  /** Sends a request of a client, which becomes a row. */
  send(): Promise<void>
  close(): void
}

export interface Filling {
  /** Where the database is. One that is there already is used as it is. */
  readonly folder: string
  readonly rows: number
  readonly days: number
  readonly auditRows: number
  readonly port: number
}

/** The secret and the names are the same in every run, so that a kept database can be used again. */
const environment = { SLUICE_SECRET: 'the secret of a gateway that is measured' }
const providers = [{ name: 'echo', type: 'echo' }]
const models = Array.from({ length: 10 }, (_, index) => ({ name: `model-${index}`, provider: 'echo' }))

export async function startFilled(filling: Filling): Promise<FilledGateway> {
  const { folder, port } = filling
  if (!existsSync(join(folder, 'filled'))) await fill(filling)
  const file = join(folder, 'bench.yaml')
  writeFileSync(
    file,
    JSON.stringify({
      listen: { host: '127.0.0.1', port },
      database: { url: `sqlite:${join(folder, 'sluice.db')}` },
      providers,
      models,
      api_keys: [{ name: 'bench', key: benchKey }],
      server_config: { logging: { level: 'error' } },
    }),
  )
  const gateway = spawn(process.execPath, [join(root, 'engine/bin/sluice.cjs'), 'serve'], {
    env: { ...process.env, ...environment, SLUICE_CONFIG: file },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const close = () => void gateway.kill('SIGKILL')
  process.on('exit', close)
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/api/health/ready`).catch(() => undefined))?.ok) {
    if (gateway.exitCode !== null) throw new Error('the gateway does not start')
    await pause(50)
  }
  const { body } = await askAt(url)('POST /api/auth/login', { username: 'admin', password })
  const session = body as { readonly token: string }
  const headers = { authorization: `Bearer ${benchKey}`, 'content-type': 'application/json' }
  const asked = JSON.stringify({ model: 'model-1', messages: [{ role: 'user', content: 'Hello' }] })
  return {
    url,
    pid: gateway.pid ?? 0,
    session,
    asAdmin: askAt(url, session.token),
    async send() {
      const answer = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: asked })
      await answer.text()
      if (!answer.ok) throw new Error(`a request was answered with ${answer.status}`)
    },
    close,
  }
}

/** Writes the rows, and lets the product itself make the rest: the admin and the audit trail. */
async function fill({ folder, rows, days, auditRows }: Filling): Promise<void> {
  const database = await openDatabase(`sqlite:${join(folder, 'sluice.db')}`)
  await fillLog(database, rows, days)
  await database.close()
  const gateway = await startGateway({ folder, environment, providers, models })
  const { status } = await askAt(gateway.url)('POST /api/auth/setup', {
    token: viewOf(gateway.engine, 'members').setupToken(),
    username: 'admin',
    password,
  })
  if (status >= 300) throw new Error(`the set-up was answered with ${status}`)
  const trail = viewOf(gateway.engine, 'audit')
  for (let left = auditRows; left > 0; left -= 100)
    await Promise.all(Array.from({ length: 100 }, () => trail.record({ action: 'logs.cleanup' })))
  await gateway.close()
  writeFileSync(join(folder, 'filled'), '')
}
