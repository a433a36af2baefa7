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
  'stream of 1,000 chunks, relayed one by one': { bytes: 3_100_000, promises: 11.5 },
  'stream of 1,000 chunks, relayed eight by eight': { bytes: 700_000, promises: 11.5 },
  'stream of 1,000 chunks, translated one by one': { bytes: 5_300_000, promises: 11.5 },
  'stream of 1,000 chunks, translated eight by eight': { bytes: 2_550_000, promises: 11.5 },
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
    // One by one takes long: what the gateway does from time to time counts, too, unless a batch is short.
    const counts = (path: string, together: number) => (most: Counts) =>
      gateway?.count(path, stream, most, { batches: 300, requests: together === 1 ? 1 : 5, together })
    await holds('stream of 1,000 chunks, relayed one by one', counts('/v1/chat/completions', 1))
    await holds('stream of 1,000 chunks, relayed eight by eight', counts('/v1/chat/completions', 8))
    await holds('stream of 1,000 chunks, translated one by one', counts('/v1/messages', 1))
    await holds('stream of 1,000 chunks, translated eight by eight', counts('/v1/messages', 8))
  })
})
