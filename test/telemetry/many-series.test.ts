import { randomUUID } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { ToldCall, ToldExchange } from '../../engine/index.ts'
import { viewOf } from '../support/admin.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { seriesIn, valueIn } from './exposition.ts'

const messages = [{ role: 'user', content: 'Hello' }]

describe('series of metrics', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway({
      server_config: { telemetry: { metrics: { access: 'open' } } },
      providers: [{ name: 'near', type: 'echo' }],
      models: [{ name: 'near/*', provider: 'near', upstream_model: '*' }],
    })
  })
  after(() => gateway.close())

  const scrape = async () => (await fetch(`${gateway.url}/metrics`)).text()
  const ask = async (model: string) => {
    const answer = await gateway.post('/v1/chat/completions', { model, messages })
    await answer.text()
    return answer.status
  }
  const countOf = (text: string) => seriesIn(text).filter(({ name }) => name.startsWith('sluice_')).length
  const requests = (text: string, model: string) => valueIn(text, 'sluice_requests_total', { model }) ?? 0
  /** Asks for one name that fits the pattern and one that nothing fits, so that both have their series. */
  const both = async () => {
    expect([await ask(`near/${randomUUID()}`), await ask(randomUUID())]).to.deep.equal([200, 404])
  }

  it('stay as many as they were after thousands of names that clients invent', async () => {
    await both()
    await until(async () => requests(await scrape(), 'near/*') === 1 && requests(await scrape(), 'unknown') === 1)
    const before = countOf(await scrape())
    const most = 1_000
    let left = most
    const client = async () => {
      while (left-- > 0) await both()
    }
    await Promise.all(Array.from({ length: 16 }, client))
    await until(async () => requests(await scrape(), 'near/*') === most + 1)
    await until(async () => requests(await scrape(), 'unknown') === most + 1)
    expect(countOf(await scrape())).to.equal(before)
  })

  it('stay as many as they were after a million requests with names of their own', async () => {
    await both()
    await until(async () => valueIn(await scrape(), 'sluice_in_flight') === 0)
    const told = await scrape()
    const before = { series: countOf(told), requests: requests(told, 'near/*') + requests(told, 'unknown') }
    const [started, called, ended] = ['exchange:start', 'call:end', 'exchange:end'].map((name) =>
      channel(`sluice:${name}`),
    )
    const million = 1_000_000
    for (let at = 0; at < million; at++) {
      const name = `${at}-${Math.random()}`
      const id = `made-up-${at}`
      const exchange: ToldExchange = { id, pipeline: 'chat-completions', transport: 'http', protocol: 'chat' }
      started?.publish(exchange)
      if (at % 2 === 0) {
        const call: Partial<ToldCall> = { exchange: id, attempt: 1, provider: 'near', model: name, duration: 1 }
        called?.publish(call)
        const served = { model: `near/${name}`, record: 'near/*', provider: 'near', result: 'completed' } as const
        ended?.publish(Object.assign(exchange, served, { stream: false, duration: 2 }))
      } else {
        const error = { code: 'model_not_found' }
        ended?.publish(Object.assign(exchange, { result: 'failed', stream: false, error, duration: 1 }))
      }
    }
    const after = await scrape()
    expect(requests(after, 'near/*') + requests(after, 'unknown')).to.equal(before.requests + million)
    expect(countOf(after)).to.equal(before.series)
    expect(valueIn(after, 'sluice_in_flight')).to.equal(0)
  })

  it('are told in one scrape, thousands of them', async () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, at) => String(at))
    viewOf(gateway.engine, 'metrics').counter({
      name: 'test_many_total',
      help: 'Many series.',
      labels: { tens: numbers(100), ones: numbers(50) },
    })
    const text = await scrape()
    expect(seriesIn(text).filter(({ name }) => name === 'test_many_total')).to.have.length(5_000)
  })
})
