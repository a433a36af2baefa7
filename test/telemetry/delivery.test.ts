import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import { Delivery } from '../../plugins/telemetry/delivery.ts'
import { readEnvironment } from '../../plugins/telemetry/environment.ts'
import { openTracing } from '../../plugins/telemetry/open-tracing.ts'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { until } from '../support/until.ts'
import { startCollector } from './collector.ts'
import type { Collector } from './collector.ts'
import { valueIn } from './exposition.ts'

const body = { model: 'echo', messages: [{ role: 'user', content: 'Hello' }] }

describe('spans on their way to a collector', () => {
  let collector: Collector
  let gateway: AdminGateway | undefined
  beforeEach(async () => void (collector = await startCollector()))
  afterEach(async () => {
    await gateway?.close()
    gateway = undefined
    await collector.close()
  })

  const start = async (environment: Record<string, string>) =>
    (gateway = await startAdmin({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...environment } }))
  const ask = async () => {
    const answer = await (gateway as AdminGateway).post('/v1/chat/completions', body)
    await answer.text()
    return answer.status
  }
  const dropped = async () => {
    const headers = { authorization: `Bearer ${gateway?.admin.token}` }
    const text = await (await fetch(`${gateway?.url}/metrics`, { headers })).text()
    return valueIn(text, 'sluice_telemetry_dropped_total', { signal: 'traces' })
  }

  it('are lost beyond the queue while a collector is frozen, which costs no request', async () => {
    collector.answer('nothing')
    await start({
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
      OTEL_BSP_SCHEDULE_DELAY: '1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '60000',
    })
    expect(await dropped()).to.equal(0)
    expect(await ask()).to.equal(200)
    await until(() => collector.requests.length > 0)
    // Each has two spans: at most 4 are out, and 10 wait.
    for (let count = 0; count < 50; count++) expect(await ask()).to.equal(200)
    expect(await dropped()).to.be.within(102 - 14, 102 - 10)
    // No more than may be under way at once.
    expect(collector.requests.length).to.be.at.most(4)
  })

  it('cost no more than a queue of 2,048 and what is under way, if nobody says otherwise', async function () {
    this.timeout(120_000)
    collector.answer('nothing')
    await start({
      OTEL_BSP_SCHEDULE_DELAY: '1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      OTEL_BSP_EXPORT_TIMEOUT: '600000',
    })
    const [requests, most, batch] = [1_500, 2_048, 512]
    let left = requests
    const asking = Array.from({ length: 16 }, async () => {
      while (left-- > 0) expect(await ask()).to.equal(200)
    })
    await Promise.all(asking)
    const lost = await dropped()
    // Each has two spans.
    expect(lost).to.be.within(2 * requests - most - batch, 2 * requests - most)
    expect(await ask()).to.equal(200)
    expect(await dropped()).to.equal((lost ?? 0) + 2)
  })

  it('cost no more than 128 million characters, and have room again when some are over', async () => {
    collector.answer(400)
    const delivery = new Delivery('traces')
    const alone = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '1' }
    const tracing = await openTracing(readEnvironment(alone), delivery, '1.0.0')
    const text = 'x'.repeat(1024 * 1024)
    const large = () => ({ kind: 0, attributes: { text, list: [text] }, began: 0, epoch: 0 })
    const end = () => tracing.tracer.begin('large', large()).end()
    // One is under way, and 60 wait.
    for (let at = 0; at < 69; at++) end()
    expect(delivery.dropped).to.equal(8)
    await until(() => delivery.dropped === 69)
    collector.answer(200)
    end()
    await until(() => collector.spans.length === 1)
    expect(delivery.dropped).to.equal(69)
    await tracing.close(5_000)
  })

  it('are lost when a collector refuses them, and arrive when it does not', async () => {
    collector.answer(400)
    await start({ OTEL_BSP_SCHEDULE_DELAY: '1' })
    expect(await ask()).to.equal(200)
    await until(async () => (await dropped()) === 2)
    collector.answer(200)
    expect(await ask()).to.equal(200)
    await until(() => collector.spans.length === 2)
    expect(await dropped()).to.equal(2)
  })

  it('cost no request while nobody is there', async () => {
    // The port stays taken, so that nobody else is there.
    const nobody = createServer((socket) => void socket.on('error', () => undefined).destroy())
    nobody.listen(0, '127.0.0.1')
    await once(nobody, 'listening')
    const { port } = nobody.address() as AddressInfo
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_BSP_SCHEDULE_DELAY: '1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    })
    for (let count = 0; count < 20; count++) expect(await ask()).to.equal(200)
    await until(async () => ((await dropped()) ?? 0) > 0)
    nobody.close()
  })

  it('are sent when the gateway stops', async () => {
    await start({ OTEL_BSP_SCHEDULE_DELAY: '600000' })
    await ask()
    await ask()
    expect(collector.spans).to.deep.equal([])
    await gateway?.close()
    gateway = undefined
    expect(collector.spans).to.have.length(4)
  })

  it('degrade the gateway when nothing was accepted for 30 seconds, until something is', () => {
    let now = 0
    const delivery = new Delivery('traces', () => now)
    const after = (seconds: number) => {
      now += seconds * 1_000
      return delivery.status()
    }
    expect(after(100)).to.equal(undefined)
    delivery.handedOver()
    expect(after(29)).to.equal(undefined)
    delivery.handedOver()
    delivery.lost(4)
    const told = after(1)
    expect(told).to.equal('the collector has accepted no traces for 30 seconds')
    expect(after(1_000)).to.equal(told)
    delivery.accepted()
    expect(after(1_000)).to.equal(undefined)
    delivery.handedOver()
    expect(after(29)).to.equal(undefined)
    expect(delivery.dropped).to.equal(4)
  })
})
