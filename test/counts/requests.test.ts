import { expect } from 'chai'
import { openCounted } from './rig.ts'
import type { Counted, Counts } from './rig.ts'

const text = 'The gateway reads a request, picks a model and relays the answer as it arrives. '.repeat(19)
const chat = { model: 'plain', temperature: 0.2, max_tokens: 256, messages: [{ role: 'user', content: text }] }

/** What a request may cost the main thread at most. Lower a figure with each change that makes requests lighter. */
const most = {
  'byte lane': { bytes: 47_000, promises: 7.5 },
  'byte lane with traces': { bytes: 63_000, promises: 8.5 },
  'byte lane with limits and budgets': { bytes: 56_000, promises: 7.5 },
  'translation lane': { bytes: 69_000, promises: 7.5 },
  'chosen by auto': { bytes: 101_000, promises: 7.5 },
  'stream of 1,000 chunks, relayed': { bytes: 950_000, promises: 11.5 },
  'stream of 1,000 chunks, translated': { bytes: 2_550_000, promises: 11.5 },
}

describe('counts', () => {
  let gateway: Counted | undefined
  afterEach(() => gateway?.close())

  const holds = async (what: keyof typeof most, counting: (most: Counts) => Promise<Counts> | undefined) => {
    const { bytes, promises } = (await counting(most[what])) as Counts
    const figures = `${what}: ${Math.round(bytes)} bytes, ${promises.toFixed(2)} promises`
    if (process.env['COUNTS']) console.log(figures)
    expect(bytes, figures).to.be.at.most(most[what].bytes)
    expect(promises, figures).to.be.at.most(most[what].promises)
  }

  it('a request allocates, and makes promises, no more than its bound', async () => {
    gateway = await openCounted()
    await holds('byte lane', (most) => gateway?.count('/v1/chat/completions', chat, most))
    await holds('translation lane', (most) => gateway?.count('/v1/messages', chat, most))
    await holds('chosen by auto', (most) => gateway?.count('/v1/chat/completions', { ...chat, model: 'auto' }, most))
  })

  it('rate limits and budgets add no more than their bound', async () => {
    const rate = { requests: 1_000_000, tokens: 1_000_000_000, concurrency: 100, period: '60s' }
    const budget = { usd: 1_000_000, period: 'day' }
    gateway = await openCounted({
      api_key: { budget, rate_limit: rate },
      server_config: { rate_limits: { server: rate, budget: { server: budget } } },
    })
    await holds('byte lane with limits and budgets', (most) => gateway?.count('/v1/chat/completions', chat, most))
  })

  it('traces of all requests add no more than their bound', async () => {
    gateway = await openCounted({}, true)
    await holds('byte lane with traces', (most) => gateway?.count('/v1/chat/completions', chat, most))
  })

  it('a chunk of a stream allocates no more than its bound, and makes no promise', async () => {
    gateway = await openCounted()
    const stream = { ...chat, stream: true, max_tokens: 1000 }
    const load = { batches: 300, requests: 5 }
    await holds('stream of 1,000 chunks, relayed', (most) => gateway?.count('/v1/chat/completions', stream, most, load))
    await holds('stream of 1,000 chunks, translated', (most) => gateway?.count('/v1/messages', stream, most, load))
  })
})
