import { expect } from 'chai'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { beat } from '../../engine/pipeline/deadline.ts'
import { BytesBody, duration } from '../../engine/kit.ts'
import type { Call, Host, Services } from '../../engine/index.ts'
import call from '../../plugins/translation/call.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../support/gateway.ts'
import { copyPipelines } from '../support/pipelines.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer } from './streams.ts'

const root = join(import.meta.dirname, '..', '..')
const asking = (model: string) => ({ model, messages: [{ role: 'user', content: 'hello' }] })

describe('how long a provider may take', () => {
  let upstream: ScriptedUpstream
  before(async () => {
    upstream = await scriptedUpstream()
  })
  after(() => upstream.close())
  let gateway: RunningGateway | undefined
  afterEach(() => gateway?.close())

  const start = async (settings: GatewaySettings) => {
    const at = { type: 'compatible', base_url: upstream.url }
    gateway = await startGateway({
      providers: [
        { name: 'usual', ...at },
        { name: 'slow', ...at, timeouts: { first_byte: '1h' } },
        { name: 'hasty', ...at, timeouts: { first_byte: '50ms' } },
      ],
      models: ['usual', 'slow', 'hasty'].map((name) => ({ name, provider: name })),
      ...settings,
    })
    return async (model: string) =>
      (await (gateway as RunningGateway).post('/v1/chat/completions', asking(model))).status
  }
  const late = () => upstream.answer({ body: chatAnswer, delay: 300 })
  const never = () => upstream.answer({ silent: true })

  it('is 10 minutes for a beginning and for silence, and an hour in all, and no shipped pipeline says otherwise', async () => {
    await start({})
    const { timeouts } = (gateway as RunningGateway).engine.live.current.catalog.settings.resilience
    expect(timeouts).to.deep.equal({ connect: '10s', first_byte: '10m', idle: '10m', total: '1h' })
    for (const name of await readdir(join(root, 'pipelines'), { recursive: true }))
      if (name.endsWith('.yaml'))
        expect(await readFile(join(root, 'pipelines', name), 'utf8'), name).to.not.match(/first_byte|idle:|total:/)
  })

  it('is a failure of the provider when it is over: the stage has longer than the usual total', async () => {
    await start({})
    const { timeouts } = (gateway as RunningGateway).engine.live.current.catalog.settings.resilience
    expect(duration(call.timeout ?? '')).to.be.at.least(duration(timeouts.total) + 2 * beat)
  })

  it('say the settings, before them the pipeline, and before it the provider', async () => {
    const ask = await start({ server_config: { resilience: { timeouts: { first_byte: '50ms' } } } })
    never()
    expect(await ask('usual')).to.equal(504)
    late()
    expect(await ask('slow')).to.equal(200)
    await gateway?.close()

    const pipelines = await copyPipelines()
    await pipelines.edit('generate.yaml', '- call', '- call: { first_byte: 1h }')
    const within = await start({
      pipelines: pipelines.folder,
      server_config: { resilience: { timeouts: { first_byte: '50ms' } } },
    })
    late()
    expect(await within('usual')).to.equal(200)
    never()
    expect(await within('hasty')).to.equal(504)
    await pipelines.remove()
  })

  it('is all of its time for an answer that nobody waits for', async () => {
    const asked: Call['timeouts'][] = []
    const timeouts = { first_byte: '2s', idle: '3s', total: '4s' }
    const codec = { protocol: 'chat', operation: 'generate' }
    const run = call.build({ limit: 99, ...timeouts }, { upstreamCodec: () => codec } as unknown as Host, {
      prices: { asks: () => () => undefined } as unknown as Services['prices'],
    })
    const provider = {
      send(sent: Call) {
        asked.push(sent.timeouts)
        return Promise.reject(new Error('enough is known'))
      },
    }
    const model = { model: {}, provider: { provider }, offer: { protocol: 'chat' } }
    for (const background of [false, true])
      await Promise.resolve(
        run({ request: { background }, model, upstream: { body: new BytesBody(Buffer.from('{}')) } }, {
          time: () => undefined,
        } as never),
      ).catch(() => undefined)
    expect(asked).to.deep.equal([
      { firstByte: 2_000, idle: 3_000, total: 4_000 },
      { firstByte: 4_000, idle: 4_000, total: 4_000 },
    ])
  })
})
