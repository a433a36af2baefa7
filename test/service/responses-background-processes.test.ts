import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { openDatabase } from '../../engine/store/database.ts'
import { root } from '../engine/cli/sandbox.ts'
import { startServe } from '../engine/cli/process.ts'
import type { Serving } from '../engine/cli/process.ts'
import { durableRedis, redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { tablesOf } from '../support/tables.ts'
import { client, ended, says, servedBy, startBackground } from './background.ts'

const key = 'sk-process-0123456789abcdef0123456789abcdef'

/** Gateways in processes of their own, which have a key-value store in common. */
class Processes {
  readonly service: Service
  readonly upstream: ScriptedUpstream
  readonly #serving: Serving[] = []
  readonly #folders: string[] = []

  constructor(service: Service, upstream: ScriptedUpstream) {
    this.service = service
    this.upstream = upstream
  }

  /** A gateway in a process and a folder of its own. */
  async start() {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-process-'))
    this.#folders.push(folder)
    await writeFile(
      join(folder, 'sluice.yaml'),
      stringify({
        listen: { port: 0 },
        database: { url: `sqlite:${folder}/sluice.db` },
        key_value: { url: this.service.url },
        plugins: [join(root, 'plugins')],
        pipelines: join(root, 'pipelines'),
        ...servedBy(this.upstream),
        api_keys: [{ name: 'test', key }],
      }),
    )
    const one = startServe(folder, { SLUICE_CONFIG: 'sluice.yaml' }, '--json')
    this.#serving.push(one)
    await one.until(() => one.out.some((line) => line.includes('"url"')))
    const { url } = Object.assign({}, ...one.out.map((line) => JSON.parse(line) as object)) as { url: string }
    return { folder, serving: one, openai: client({ url, key }) }
  }

  /** A response whose provider does not answer. */
  async begin({ openai }: { openai: ReturnType<typeof client> }) {
    this.upstream.answer({ silent: true })
    const before = this.upstream.requests.length
    const response = await openai.responses.create({ model: 'chat', input: 'Take your time.', background: true })
    await this.upstream.received(before + 1)
    return response
  }

  async close(): Promise<void> {
    await Promise.all(this.#serving.map((one) => one.remove()))
    await Promise.all(this.#folders.map((folder) => rm(folder, { recursive: true, force: true })))
    await this.upstream.close()
    await this.service.stop()
  }
}

describe('responses in the background of several processes', () => {
  const among = (title: string, test: (processes: Processes) => Promise<void>) =>
    sideBySide(title, async (context) => {
      const processes = new Processes(await redis(context), await scriptedUpstream())
      await test(processes).finally(() => processes.close())
    })

  among('are created on one, read and cancelled on the other', async (processes) => {
    const one = await processes.start()
    const { id } = await processes.begin(one)
    const two = await processes.start()
    expect(await two.openai.responses.retrieve(id)).to.include({ id, status: 'in_progress' })
    expect(await two.openai.responses.cancel(id)).to.include({ id, status: 'cancelled' })
    await processes.upstream.closed()
    expect(await one.openai.responses.retrieve(id)).to.include({ id, status: 'cancelled' })
  })

  among('fail after the death of their process, and are not made again', async (processes) => {
    const one = await processes.start()
    const { id } = await processes.begin(one)
    const two = await processes.start()
    one.serving.interrupt('SIGKILL')
    await one.serving.ended
    const failed = await ended(two.openai, id)
    expect(failed).to.deep.include({ id, status: 'failed', output: [], usage: null, background: true })
    expect(failed.error).to.deep.equal({
      code: 'worker_lost',
      message: 'The process that worked on the response was lost.',
    })
    expect(processes.upstream.requests).to.have.length(1)
    expect(await two.openai.responses.cancel(id).catch((error: { status: number }) => error.status)).to.equal(409)
  })

  among('fail after the next start when no other process is there', async (processes) => {
    const one = await processes.start()
    const { id } = await processes.begin(one)
    one.serving.interrupt('SIGKILL')
    await one.serving.ended
    const two = await processes.start()
    const failed = await ended(two.openai, id)
    expect(failed.error).to.include({ code: 'worker_lost' })
    two.serving.interrupt('SIGTERM')
    expect(await two.serving.ended).to.equal(0)
    const database = await openDatabase(`sqlite:${two.folder}/sluice.db`)
    const [row] = await tablesOf(database).selectFrom('requests').selectAll().where('type', '=', 'responses').execute()
    await database.close()
    expect(row).to.include({ requested: 'chat', result: 'failed', error: 'worker_lost', input_tokens: null })
    expect(row?.key_id).to.be.a('string')
    expect(`resp_${row?.id.replaceAll('-', '')}`).to.equal(id)
  })

  among('are finished by a process that is told to stop', async (processes) => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    processes.upstream.answer(async () => {
      await asked
      return says('chat', 'Just in time.')
    })
    const one = await processes.start()
    const { id } = await one.openai.responses.create({ model: 'chat', input: 'Quick!', background: true })
    await processes.upstream.received()
    const two = await processes.start()
    one.serving.interrupt('SIGTERM')
    await one.serving.until(() => one.serving.error.some((line) => line.includes('stopping')))
    answer()
    expect(await one.serving.ended).to.equal(0)
    expect(await two.openai.responses.retrieve(id)).to.include({ status: 'completed', output_text: 'Just in time.' })
  })
})

describe('responses in the background of a process that stops', function () {
  it('fail when there is no time left for them', async function () {
    const service = await redis(this)
    const upstream = await scriptedUpstream()
    upstream.answer({ silent: true })
    const stopping = await startBackground(upstream, service.url)
    const { id } = await client(stopping).responses.create({ model: 'chat', input: 'Slow.', background: true })
    await upstream.received()
    const other = await startBackground(upstream, service.url)
    await stopping.engine.close(50)
    const failed = await client(other).responses.retrieve(id)
    expect(failed).to.include({ status: 'failed' })
    expect(failed.error).to.include({ code: 'server_error' })
    await upstream.closed()
    await other.close()
    await upstream.close()
    await service.stop()
  })

  it('outlive a restart of the key-value store', async function () {
    const service = await durableRedis(this)
    const upstream = await scriptedUpstream()
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>()
    upstream.answer(async () => {
      await asked
      return says('chat', 'Nothing happened.')
    })
    const gateway = await startBackground(upstream, service.url)
    const at = client(gateway)
    const running = await at.responses.create({ model: 'chat', input: 'One.', background: true })
    await upstream.received()
    await service.restart()
    const again = () => gateway.post('/v1/responses', { model: 'chat', input: 'Two.', background: true })
    let accepted = await again()
    // Until the gateway has found its way back.
    while (accepted.status === 503) accepted = await again()
    const next = (await accepted.json()) as { id: string }
    answer()
    const both = await Promise.all([running, next].map(({ id }) => ended(at, id)))
    expect(both.map(({ output_text: text }) => text)).to.deep.equal(['Nothing happened.', 'Nothing happened.'])
    await gateway.close()
    await upstream.close()
    await service.stop()
  })
})
