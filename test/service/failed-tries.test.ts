import { expect } from 'chai'
import type { Limits } from '../../plugins/limits/limits.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { until } from '../support/until.ts'
import { chatAnswer, messagesFrames } from './streams.ts'

const key = 'sk-failing-0123456789abcdef0123456789abcdef'
const budget = { usd: 1, period: 'month' } as const

/** 100 tokens of input and 10 of output. */
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
const error = { message: 'It broke.', type: 'server_error', code: 'broken' }

/** Micro-USD of these tokens at the prices of `first`, and of the answer of `second` at its own. */
const ofFailed = 100 * 10 + 10 * 20
const ofAnswer = 9 * 100 + 4 * 100

/** Answers that are errors, and that nevertheless report usage. */
const reporting: Readonly<Record<string, Script>> = {
  'an error': { status: 500, body: { error, usage } },
  'an error with a success status': { body: { error, usage } },
  'an error as the first event of a stream': { frames: [{ data: { error, usage } }] },
}

/** Answers with an error that report no usage. */
const refusing: readonly Script[] = [
  { status: 400, body: { error } },
  { status: 429, body: { error } },
  { status: 500, body: 'page' },
  { status: 504, body: { error } },
  { body: { error } },
  { frames: [{ data: { error } }] },
]

/** What a provider does that may have made an answer. */
const lost: Readonly<Record<string, Script>> = {
  'timed out': { silent: true },
  'broke off': { body: '{"id":', ending: 'reset' },
  'got no answer': { raw: '', ending: 'reset' },
  'got no JSON': { body: 'page' },
}

describe('failed tries', function () {
  this.timeout(300_000)

  let first: ScriptedUpstream
  let second: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    first = await scriptedUpstream()
    second = await scriptedUpstream()
    const timeouts = { first_byte: '100ms' }
    const prices = { input: 100, output: 100 }
    gateway = await startGateway({
      server_config: {
        resilience: {
          retries: { wait: '1ms', wait_max: '1ms', budget: 1 },
          breaker: { enabled: false },
        },
      },
      providers: [
        { name: 'a', type: 'compatible', base_url: first.url },
        { name: 'a-messages', type: 'messages', base_url: first.url, api_key: 'k' },
        { name: 'b', type: 'compatible', base_url: second.url },
        { name: 'hasty', type: 'compatible', base_url: first.url, timeouts },
        { name: 'hasty-messages', type: 'messages', base_url: first.url, api_key: 'k', timeouts },
        { name: 'nowhere', type: 'compatible', base_url: `http://127.0.0.1:${await freePort()}` },
      ],
      models: [
        { name: 'first', provider: 'a', pricing: { input: 10, output: 20 }, fallbacks: ['second'] },
        { name: 'alone', provider: 'a', pricing: { input: 10, output: 20 } },
        { name: 'streamed', provider: 'a-messages', pricing: { input: 10, output: 20 }, fallbacks: ['second'] },
        { name: 'hasty', provider: 'hasty', pricing: { input: 10 }, fallbacks: ['second'] },
        { name: 'hasty-streamed', provider: 'hasty-messages', pricing: { input: 10 }, fallbacks: ['second'] },
        { name: 'unreached', provider: 'nowhere', pricing: { input: 10 }, fallbacks: ['alone'] },
        { name: 'unpriced', provider: 'a', fallbacks: ['second'] },
        { name: 'second', provider: 'b', pricing: prices },
      ],
      api_keys: [
        { name: 'failing', key },
        { name: 'limited', key: `${key}-2`, budget },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await first.close()
    await second.close()
  })

  let asked = 0
  const ask = async (model: string, more: object = {}, secret = key) => {
    const body = { model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20, ...more }
    const response = await gateway.post('/v1/chat/completions', body, { authorization: `Bearer ${secret}` })
    await response.text()
    const row = (await gateway.rows(++asked)).at(-1)
    return { status: response.status, row, metadata: JSON.parse(row?.metadata ?? '{}') as Record<string, unknown> }
  }
  const spent = async () => {
    const limits = gateway.engine.live.current.views.of(['limits'])['limits'] as Limits
    const { spent: all, held } = await limits.budgetOf({ kind: 'key', id: 'file:limited' }, budget)
    return { spent: all, held }
  }

  for (const [what, script] of Object.entries(reporting)) {
    it(`cost what they used before another model answers: ${what}`, async () => {
      first.answer(script)
      second.answer({ body: chatAnswer })
      const { status, row, metadata } = await ask('first')
      expect(status).to.equal(200)
      expect(row).to.include({ model: 'second', attempts: 2, cost_micros: ofFailed + ofAnswer })
      expect(row).to.include({ input_tokens: 109, output_tokens: 14 })
      expect((metadata['tries'] as { model: string }[]).map(({ model }) => model)).to.deep.equal(['first'])
    })
  }

  it('cost what they used when no other model answers', async () => {
    first.answer({ status: 500, body: { error, usage } })
    second.answer({ status: 500, body: { error } })
    const { status, row, metadata } = await ask('first')
    expect(status).to.equal(502)
    const tries = (metadata['tries'] as { model: string }[]).map(({ model }) => model)
    const reported = tries.filter((model) => model === 'first').length
    expect(row).to.include({ model: tries.at(-1), cost_micros: reported * ofFailed, input_tokens: reported * 100 })
  })

  it('cost what they used when nothing is tried again', async () => {
    first.answer({ status: 400, body: { error, usage } })
    const { status, row } = await ask('alone')
    expect(status).to.equal(400)
    expect(row).to.include({ cost_micros: ofFailed, input_tokens: 100, output_tokens: 10 })
  })

  it('cost what a stream used that was to become a whole answer and failed', async () => {
    const start = messagesFrames('Hel').slice(0, 3)
    const failure = { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'No.' } } }
    first.answer({ frames: [...start, failure] })
    second.answer({ body: chatAnswer })
    const { status, row } = await ask('streamed')
    expect(status).to.equal(200)
    expect(row).to.include({ model: 'second', attempts: 2 })
    const told = (start[0] as { data: { message: { usage: Record<string, number> } } }).data.message.usage
    const { input_tokens: input = 0, output_tokens: output = 0 } = told
    expect(input).to.be.above(0)
    expect(row?.cost_micros).to.equal(input * 10 + output * 20 + ofAnswer)
  })

  it('cost nothing where nothing is reported, or what is reported makes no sense', async () => {
    second.answer({ body: chatAnswer })
    for (const body of [{ error }, { error, usage: { prompt_tokens: -3, completion_tokens: 1 } }, 'page', [1]]) {
      first.answer({ status: 500, body })
      expect((await ask('first')).row).to.include({ cost_micros: ofAnswer, input_tokens: 9 })
    }
  })

  for (const model of ['first', 'streamed', 'unreached', 'unpriced'])
    for (const stream of [false, true])
      it(`cost nothing where every one was refused: ${model}${stream ? ', streamed' : ''}`, async () => {
        for (const script of refusing) {
          first.answer(script)
          second.answer({ status: 503, body: { error } })
          const { status, row, metadata } = await ask(model, { stream })
          expect(status).to.be.at.least(400)
          expect(row).to.include({ result: 'failed', cost_micros: 0, input_tokens: 0, output_tokens: 0 })
          expect(metadata).to.not.have.any.keys('cost', 'usage')
        }
      })

  for (const [what, script] of Object.entries(lost))
    it(`make the cost unknown where one ${what}, whatever comes after`, async () => {
      for (const model of ['hasty', 'hasty-streamed']) {
        first.answer(script, { status: 400, body: { error } })
        second.answer({ status: 400, body: { error } })
        const { status, row, metadata } = await ask(model)
        expect(status).to.be.at.least(400)
        expect(row, model).to.include({ attempts: 2, cost_micros: null, input_tokens: null })
        expect(metadata).to.include({ cost: 'unknown', usage: 'unknown' })
      }
    })

  it('make the cost unknown where the client left during the last one', async () => {
    second.answer({ silent: true })
    for (const script of [{ silent: true }, { status: 500, body: { error, usage } }]) {
      first.answer(script)
      const last = script.silent ? first : second
      const before = last.requests.length
      const left = new AbortController()
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ model: 'first', messages: [{ role: 'user', content: 'Hello' }] })
      const { signal } = left
      const asking = fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body, signal })
      await last.received(before + 1)
      left.abort()
      await asking.catch(() => undefined)
      const row = (await gateway.rows(++asked)).at(-1)
      expect(row).to.include({ result: 'client_closed', cost_micros: null, input_tokens: null })
    }
  })

  it('make the cost unknown where their model has no price', async () => {
    first.answer({ status: 500, body: { error, usage } })
    second.answer({ body: chatAnswer })
    const { row, metadata } = await ask('unpriced')
    expect(row).to.include({ cost_micros: null, input_tokens: 109 })
    expect(metadata['cost']).to.equal('unknown')
  })

  it('are charged to budgets with the answer', async () => {
    first.answer({ status: 500, body: { error, usage } })
    second.answer({ body: chatAnswer })
    const { metadata } = await ask('first', {}, `${key}-2`)
    const usd = (ofFailed + ofAnswer) / 1e6
    expect(metadata['charged']).to.deep.equal([{ bucket: 'key', usd }])
    await until(async () => (await spent()).held === 0)
    expect(await spent()).to.deep.equal({ spent: usd, held: 0 })
    first.answer({ status: 400, body: { error, usage } })
    await ask('alone', {}, `${key}-2`)
    await until(async () => (await spent()).held === 0)
    expect((await spent()).spent).to.equal(usd + ofFailed / 1e6)
    first.answer({ status: 400, body: { error } })
    expect((await ask('alone', {}, `${key}-2`)).metadata).to.not.have.property('charged_by')
    await until(async () => (await spent()).held === 0)
    expect((await spent()).spent).to.equal(usd + ofFailed / 1e6)
  })
})
