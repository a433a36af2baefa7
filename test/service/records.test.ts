import { expect } from 'chai'
import type { Json } from '../../engine/index.ts'
import { anthropic, openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { chatAnswer, chatFrames, messagesAnswer, messagesFrames, responsesAnswer, responsesFrames } from './streams.ts'
import type { ScriptedFrame } from './streams.ts'

/** 100 tokens in: 60 fresh, 30 from a cache, 10 into it; 50 out: 20 of them thought. */
const buckets = {
  input_tokens: 60,
  cache_read_tokens: 30,
  cache_write_tokens: 10,
  output_tokens: 30,
  reasoning_tokens: 20,
}

const usages = {
  chat: {
    prompt_tokens: 100,
    completion_tokens: 50,
    total_tokens: 150,
    prompt_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 20 },
  },
  responses: {
    input_tokens: 100,
    output_tokens: 50,
    total_tokens: 150,
    input_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 },
    output_tokens_details: { reasoning_tokens: 20 },
  },
  messages: {
    input_tokens: 60,
    cache_read_input_tokens: 30,
    cache_creation_input_tokens: 10,
    output_tokens: 50,
    output_tokens_details: { thinking_tokens: 20 },
  },
}

const wholes = { chat: chatAnswer, responses: responsesAnswer, messages: messagesAnswer }
const streams = {
  chat: chatFrames('Hello'),
  responses: responsesFrames('Hello'),
  messages: messagesFrames('Hello'),
}
type Protocol = keyof typeof wholes
const protocols = Object.keys(wholes) as Protocol[]

/** 60 × 1 + 30 × 0.1 + 10 × 1.25 + 50 × 4 micro-USD, rounded. */
const cost = 276

describe('the row of a request', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const at = { base_url: upstream.url, api_key: 'upstream-key' }
    const pricing = { input: 1, output: 4, cache_read: 0.1, cache_write: 1.25 }
    gateway = await startGateway({
      providers: [
        { name: 'family', type: 'compatible', ...at },
        { name: 'vendor', type: 'native', ...at },
        { name: 'other', type: 'messages', ...at },
        { name: 'echo', type: 'echo' },
      ],
      models: [
        { name: 'chat', provider: 'family', upstream_model: 'vendor-model', pricing },
        { name: 'responses', provider: 'vendor', protocols: ['responses'], pricing },
        { name: 'messages', provider: 'other', pricing },
        { name: 'unpriced', provider: 'family' },
        { name: 'half-priced', provider: 'family', pricing: { input: 1 } },
        { name: 'uncached', provider: 'family', pricing: { input: 1, output: 4 } },
        { name: 'echo', provider: 'echo', pricing: { input: 0, output: 0 } },
        { name: 'модель', provider: 'other', upstream_model: 'vendor-model' },
      ],
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const lastRow = async () => {
    const row = (await gateway.rows()).at(-1)
    if (!row) throw new Error('there is no row')
    return { ...row, metadata: JSON.parse(row.metadata) as Record<string, Json> }
  }
  const messages = [{ role: 'user' as const, content: 'hello' }]

  for (const protocol of protocols)
    for (const client of ['chat', 'messages'] as const)
      for (const streamed of [false, true]) {
        it(`has disjoint tokens and their cost: ${client} client, ${protocol} provider, ${streamed ? 'streamed' : 'whole'}`, async () => {
          const usage = usages[protocol]
          upstream.answer(
            streamed
              ? { frames: JSON.parse(withUsage(streams[protocol], usage)) as ScriptedFrame[] }
              : { body: { ...wholes[protocol], usage } },
          )
          if (client === 'chat') {
            const request = { model: protocol, messages, stream_options: { include_usage: true } }
            const { usage: told } = streamed
              ? await openai(gateway).chat.completions.stream(request).finalChatCompletion()
              : await openai(gateway).chat.completions.create({ model: protocol, messages })
            expect(told).to.deep.include(usages.chat)
          } else {
            const request = { model: protocol, messages, max_tokens: 99 }
            const { usage: told } = streamed
              ? await anthropic(gateway).messages.stream(request).finalMessage()
              : await anthropic(gateway).messages.create(request)
            expect(told).to.deep.include(usages.messages)
          }
          const row = await lastRow()
          expect(row).to.include({ ...buckets, cost_micros: cost })
          expect(row).to.include({
            type: client,
            key_id: 'file:test',
            requested: protocol,
            model: protocol,
            protocol: client,
            upstream_protocol: protocol,
            stream: streamed ? 1 : 0,
            status: 200,
            result: 'completed',
            error: null,
            attempts: 1,
          })
          expect(row.metadata).to.include({ stop: 'end', upstream_model: 'vendor-model' })
          expect(row.metadata['upstream_id']).to.equal(
            { chat: 'chatcmpl-1', responses: 'resp_1', messages: 'msg_1' }[protocol],
          )
          expect(row.metadata).not.to.have.any.keys('cost', 'usage')
        })
      }

  it('says that a cost is unknown, and never that it was nothing', async () => {
    upstream.answer({ body: { ...chatAnswer, usage: usages.chat } })
    for (const model of ['unpriced', 'half-priced']) {
      await openai(gateway).chat.completions.create({ model, messages })
      const row = await lastRow()
      expect(row).to.include({ ...buckets, cost_micros: null })
      expect(row.metadata['cost']).to.equal('unknown')
    }
    upstream.answer({ body: { ...chatAnswer, usage: null } })
    await openai(gateway).chat.completions.create({ model: 'chat', messages })
    const row = await lastRow()
    expect(row).to.include({ input_tokens: null, output_tokens: null, cost_micros: null })
    expect(row.metadata).to.include({ usage: 'unknown', cost: 'unknown' })
  })

  it('bills cached tokens at the price of the input where they have none of their own, and says so', async () => {
    upstream.answer({ body: { ...chatAnswer, usage: usages.chat } })
    await openai(gateway).chat.completions.create({ model: 'uncached', messages })
    const { cost_micros: cost, metadata, ...row } = await lastRow()
    expect(row).to.include(buckets)
    // 60 + 30 + 10 × 1.25 of the input's price, 30 + 20 of the output's.
    expect(cost).to.equal(303)
    expect(metadata).to.deep.include({ priced_as_input: ['cache_read', 'cache_write'] })
    expect(metadata).not.to.have.property('cost')
  })

  it('believes no usage that makes no sense', async () => {
    for (const usage of [
      { prompt_tokens: -1, completion_tokens: 1 },
      { prompt_tokens: 1e300, completion_tokens: 1 },
      { prompt_tokens: '9', completion_tokens: 1 },
      'free',
      [],
    ]) {
      upstream.answer({ body: { ...chatAnswer, usage } })
      await openai(gateway).chat.completions.create({ model: 'chat', messages })
      const row = await lastRow()
      expect(row).to.include({ input_tokens: null, cost_micros: null, status: 200, result: 'completed' })
    }
  })

  it('costs nothing where nothing was asked', async () => {
    await gateway.post('/v1/chat/completions', { model: 'nothing', messages })
    const row = await lastRow()
    expect(row).to.include({
      status: 404,
      result: 'refused',
      error: 'model_not_found',
      requested: 'nothing',
      model: null,
      attempts: 0,
    })
    expect(row).to.include({ input_tokens: 0, output_tokens: 0, cost_micros: 0, first_byte: row.first_byte })
    expect(row.metadata).not.to.have.any.keys('cost', 'usage')
  })

  it('has the id of the answer, and the name that the client gave it', async () => {
    const response = await gateway.post(
      '/v1/chat/completions',
      { model: 'echo', messages },
      { 'x-request-id': 'mine-1.2_3' },
    )
    const row = await lastRow()
    expect(row.id).to.equal(response.headers.get('x-request-id'))
    expect(row.reference).to.equal('mine-1.2_3')
    for (const name of ['with space', 'x'.repeat(129), 'käse'])
      if (/^[\x20-\xff]*$/.test(name)) {
        await gateway.post('/v1/chat/completions', { model: 'echo', messages }, { 'x-request-id': name })
        expect((await lastRow()).reference).to.equal(null)
      }
  })

  it('has times that fit together', async () => {
    upstream.answer({ frames: chatFrames('Hello', ' there'), delay: 40, every: 10 })
    const began = Date.now()
    const response = await gateway.post('/v1/chat/completions', { model: 'chat', messages, stream: true })
    expect(response.headers.get('server-timing')).to.match(
      /call;dur=\d+\.\d, .*upstream;dur=\d+\.\d, total;dur=\d+\.\d$/,
    )
    await response.bytes()
    const row = await lastRow()
    const times = row.metadata['times'] as Record<string, number>
    // A timer may end a part of a millisecond early.
    expect(times['upstream']).to.be.at.least(39)
    expect(row.first_byte).to.be.at.least(39)
    expect(row.duration).to.be.at.least(Number(row.first_byte))
    expect(row.at).to.be.within(began - 1, Date.now())
  })

  it('has every loss once, as the header has', async () => {
    upstream.answer({ body: messagesAnswer })
    const request = { model: 'messages', messages, seed: 7, logit_bias: { '1': 2 } }
    const response = await gateway.post('/v1/chat/completions', request)
    expect(response.status).to.equal(200)
    const fields = (response.headers.get('x-gateway-losses') ?? '').split(', ')
    expect(fields).to.include.members(['seed', 'logit_bias'])
    const losses = (await lastRow()).metadata['losses'] as { field: string; because: string }[]
    expect(losses.map(({ field }) => field)).to.deep.equal(fields)
    for (const { because } of losses) expect(because).to.be.a('string').and.not.equal('')
    upstream.answer({ frames: messagesFrames('Hello') })
    await (await gateway.post('/v1/chat/completions', { ...request, stream: true })).bytes()
    expect(((await lastRow()).metadata['losses'] as object[]).length).to.equal(losses.length)
  })

  it('has names that no header could hold', async () => {
    upstream.answer({ body: messagesAnswer })
    const response = await gateway.post('/v1/chat/completions', {
      model: 'модель',
      messages,
      'ключ\r\nx-evil: 1': 1,
      n: null,
    })
    expect(response.status).to.equal(200)
    expect(((await response.json()) as { model: string }).model).to.equal(messagesAnswer.model)
    expect(response.headers.get('x-evil')).to.equal(null)
    expect(await lastRow()).to.include({ requested: 'модель', model: 'модель', result: 'completed' })
  })

  it('is one for each request, whatever comes of it', async () => {
    const before = (await gateway.rows()).length
    upstream.answer({ body: chatAnswer })
    const sent = await Promise.all([
      ...Array.from({ length: 20 }, () => gateway.post('/v1/chat/completions', { model: 'chat', messages })),
      ...Array.from({ length: 5 }, () => gateway.post('/v1/chat/completions', { model: 'nothing', messages })),
      ...Array.from({ length: 5 }, () => gateway.post('/v1/messages', { model: 'echo', messages })),
      ...Array.from({ length: 5 }, () =>
        gateway.post('/v1/embeddings', { model: 'echo', input: 'x' }, { authorization: '' }),
      ),
    ])
    await Promise.all(sent.map((response) => response.bytes()))
    const rows = (await gateway.rows()).slice(before)
    expect(rows.map(({ id }) => id).toSorted()).to.deep.equal(
      sent.map(({ headers }) => String(headers.get('x-request-id'))).toSorted(),
    )
    const ids = new Map(sent.map(({ headers, status }) => [headers.get('x-request-id'), status]))
    for (const { id, status } of rows) expect(status).to.equal(ids.get(id))
  })
})

/** The frames with another usage at their end, as JSON. */
function withUsage(frames: readonly ScriptedFrame[], usage: object): string {
  return JSON.stringify(
    frames.map((frame) => {
      if (typeof frame === 'string') return frame
      const data = frame.data as { [key: string]: Json; type: string; response: { usage: Json } }
      if (data.type === 'response.completed')
        return { ...frame, data: { ...data, response: { ...data.response, usage } } }
      if (data.type === 'message_start') return frame
      return 'usage' in data ? { ...frame, data: { ...data, usage } } : frame
    }),
  )
}
