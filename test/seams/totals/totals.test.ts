import { request } from 'node:http'
import { join } from 'node:path'
import { expect } from 'chai'
import { startServe } from '../../engine/cli/process.ts'
import type { Serving } from '../../engine/cli/process.ts'
import { sandbox } from '../../engine/cli/sandbox.ts'
import type { Sandbox } from '../../engine/cli/sandbox.ts'
import { freePort } from '../../support/free-port.ts'

const route = (name: string, path: string, stage: string) =>
  `  - { name: ${name}, summary: s., public: true, routes: [GET ${path}], stages: [${stage}] }\n`

interface Said {
  readonly sum: number
  readonly ended: number
  /** How many processes sent a last report. */
  readonly closed: number
}

describe('seams/totals', function () {
  this.timeout(120_000)
  let here: Sandbox
  let serving: Serving
  let port: number
  before(async () => {
    port = await freePort()
    here = await sandbox({
      'pipelines/totals.yaml': `endpoints:\n${route('count', '/count', 'acme-count')}${route('sum', '/sum', 'acme-sum')}`,
    })
    await here.write(
      'config/sluice.yaml',
      `listen: { port: ${port}, workers: 2 }\ndatabase: { url: 'sqlite:${here.folder}/sluice.db' }\nplugins: ['${join(import.meta.dirname, 'plugin.ts')}']\n`,
    )
    serving = startServe(here.folder, {}, '--json')
    await serving.until(() => serves().length === 2)
  })
  after(async () => {
    await serving.remove()
    await here.remove()
  })

  /** The processes that have begun to serve. */
  const serves = () => serving.error.filter((line) => line.includes('the configuration is live'))

  /** Asks over a connection of its own; undefined: the process has just ended. */
  const get = (path: string) =>
    new Promise<Record<string, unknown> | undefined>((resolve) => {
      const asking = request({ port, path, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => void (text += piece))
        response.on('end', () => resolve(JSON.parse(text) as Record<string, unknown>))
        response.on('error', () => resolve(undefined))
      })
      asking.on('error', () => resolve(undefined))
      asking.end()
    })
  const said = async () => (await get('/sum'))?.['said'] as Said | undefined
  const summed = async (wanted: number) => {
    for (;;) {
      const { sum } = (await said()) ?? {}
      if (sum === wanted) return
      // What was counted is never counted twice.
      expect(sum ?? 0).to.be.at.most(wanted)
    }
  }
  let counted = 0
  const count = async () => {
    const { pid } = (await get('/count')) ?? {}
    expect(pid).to.be.a('number')
    counted += 1
    return pid as number
  }

  it('adds up what each process reports every second', async () => {
    const pids = new Set<number>()
    while (pids.size < 2) pids.add(await count())
    await summed(counted)
  })

  it('has the last report of a process that ends in order, and keeps what one that is killed had reported', async () => {
    for (const [ends, signal] of [
      [1, 'SIGTERM'],
      [2, 'SIGKILL'],
    ] as const) {
      const pid = await count()
      if (signal === 'SIGKILL') await summed(counted)
      process.kill(pid, signal)
      await serving.until(() => serves().length === 2 + ends)
      while ((await said())?.ended !== ends);
      // Only the one that ended in order could say so.
      expect((await said())?.closed).to.equal(1)
      await summed(counted)
    }
  })

  it('rejects a question that is not answered within a second', async () => {
    const { error, after } = (await get('/sum?ask=never')) ?? {}
    expect(error).to.match(/the first process did not answer/)
    expect(after).to.be.within(950, 20_000)
  })
})
