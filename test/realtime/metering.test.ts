import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import type { GatewaySettings } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { until } from '../support/until.ts'
import { startRig } from './rig.ts'
import type { Rig, Talk } from './rig.ts'

const key = 'sk-limited-0123456789abcdef0123456789abcdef'
const asLimited = { headers: { authorization: `Bearer ${key}` } }

/** A turn of 1,000 input tokens, 300 of them cached, and 500 output tokens, 400 of them audio. */
const turn: JsonObject = {
  total_tokens: 1500,
  input_tokens: 1000,
  output_tokens: 500,
  input_token_details: {
    text_tokens: 200,
    audio_tokens: 800,
    cached_tokens: 300,
    cached_tokens_details: { text_tokens: 100, audio_tokens: 200 },
  },
  output_token_details: { text_tokens: 100, audio_tokens: 400 },
}
/** 100 text at 4, 600 audio at 32, 300 cached at 0.4, 100 text at 16 and 400 audio at 64 USD per million. */
const turnMicros = 400 + 19_200 + 120 + 1_600 + 25_600

const done = (usage: JsonObject | null, more: JsonObject = {}): JsonObject => ({
  type: 'response.done',
  event_id: 'event_1',
  response: { id: 'resp_1', object: 'realtime.response', status: 'completed', ...more, usage },
})
const heard = (usage: JsonObject): JsonObject => ({
  type: 'conversation.item.input_audio_transcription.completed',
  event_id: 'event_2',
  item_id: 'item_1',
  content_index: 0,
  transcript: 'hello',
  usage,
})

describe('realtime/metering', () => {
  let rig: Rig
  const start = async (settings?: GatewaySettings) => (rig = await startRig(settings))
  afterEach(() => rig.close())

  const rowOf = async ({ client }: Talk) => {
    client.socket.close(1000)
    await client.closed
    const row = await rig.gateway.row(({ type }) => type === 'realtime')
    return { ...row, metadata: JSON.parse(row.metadata) as JsonObject }
  }

  it('writes one row of a session, with the sums over its turns', async () => {
    await start()
    const talk = await rig.talk()
    const said = [{ type: 'session.created' }, done(turn), done(turn, { status: 'incomplete' })]
    talk.client.send({ type: 'response.create' })
    for (const event of said) await talk.say(event)
    const row = await rowOf(talk)
    expect(row).to.include({
      type: 'realtime',
      requested: 'rt',
      model: 'rt',
      provider: 'first',
      protocol: 'realtime',
      upstream_protocol: 'realtime',
      status: 101,
      result: 'completed',
      error: null,
      attempts: 1,
      input_tokens: 1400,
      cache_read_tokens: 600,
      cache_write_tokens: 0,
      output_tokens: 1000,
      reasoning_tokens: 0,
      cost_micros: 2 * turnMicros,
    })
    expect(row.first_byte).to.be.a('number')
    const { metadata } = row
    expect(metadata).to.deep.include({
      turns: 2,
      close: { by: 'client', code: 1000 },
      units: { audio_input: 1200, audio_output: 800 },
      received_bytes: Buffer.byteLength(JSON.stringify({ type: 'response.create' })),
    })
    expect(metadata['sent_bytes']).to.equal(said.reduce((sum, event) => sum + JSON.stringify(event).length, 0))
    expect(await rig.gateway.rows()).to.have.length(1)
  })

  it('finds the events wherever their type stands, and passes what is none', async () => {
    await start()
    const talk = await rig.talk()
    const { type = null, ...rest } = done(turn)
    await talk.say({ event_id: 'e', ...rest, padding: 'x'.repeat(10_000), type })
    await talk.say({ type: 'response.output_text.delta', delta: '{"type":"response.done"}' })
    talk.met.socket.send('no JSON')
    expect(await talk.client.next()).to.equal('no JSON')
    expect((await rowOf(talk)).metadata['turns']).to.equal(1)
  })

  describe('a turn without usage', () => {
    for (const [status, cost, tokens] of [
      ['failed', 0, 0],
      ['cancelled', 0, 0],
      ['completed', null, null],
    ] as const)
      it(`that is ${status} costs ${cost}`, async () => {
        await start()
        const talk = await rig.talk()
        await talk.say(done(null, { status }))
        expect(await rowOf(talk)).to.include({ cost_micros: cost, input_tokens: tokens })
      })

    it('that is under way at the end leaves the rest as it is', async () => {
      await start()
      const talk = await rig.talk()
      await talk.say(done(turn))
      await talk.say({ type: 'response.created', response: { id: 'resp_2' } })
      const row = await rowOf(talk)
      expect(row).to.include({ cost_micros: turnMicros })
      expect(row.metadata).to.include({ turns: 1, usage: 'estimated' })
    })
  })

  const begun = (id: string): JsonObject => ({ type: 'response.created', response: { id } })
  const input = (count: number) => ({ total_tokens: count, input_tokens: count, output_tokens: 0 })
  const sends = async (talk: Talk, ...events: readonly JsonObject[]) => {
    const before = talk.met.heard.length
    for (const event of events) talk.client.send(event)
    await rig.upstream.when(() => talk.met.heard.length === before + events.length)
  }

  it('gives each of several responses under way the price of its own model', async () => {
    await start()
    const talk = await rig.talk()
    await sends(
      talk,
      { type: 'response.create', response: { conversation: 'none', model: 'dear' } },
      { type: 'response.create', response: { conversation: 'none' } },
    )
    const said = [begun('r1'), begun('r2'), done(input(1_000), { id: 'r1' }), done(input(1_000), { id: 'r2' })]
    for (const event of said) await talk.say(event)
    // 400 USD per million for one of them, 4 for the other.
    expect((await rowOf(talk)).cost_micros).to.equal(404_000)
  })

  it('keeps no price of what the provider has refused', async () => {
    await start()
    const talk = await rig.talk()
    const transcription = { model: 'scribe' }
    await sends(
      talk,
      { type: 'response.create', event_id: 'e1', response: { model: 'dear' } },
      { type: 'session.update', event_id: 'e2', session: { audio: { input: { transcription } } } },
    )
    const refused = (id: string) => ({ type: 'error', error: { type: 'invalid_request_error', event_id: id } })
    const said = [refused('e1'), refused('e2'), begun('r1'), done(input(1_000), { id: 'r1' }), heard(input(1_000))]
    for (const event of said) await talk.say(event)
    expect((await rowOf(talk)).cost_micros).to.equal(8_000)
  })

  it('takes no time that is less than nothing', async () => {
    await start()
    const talk = await rig.talk()
    for (const seconds of [10, -5]) await talk.say(heard({ type: 'duration', seconds }))
    expect((await rowOf(talk)).metadata).to.deep.include({ units: { seconds: 10 } })
  })

  it('costs nothing where nothing was used', async () => {
    await start()
    const talk = await rig.talk()
    await talk.say({ type: 'session.created' })
    expect(await rowOf(talk)).to.include({ cost_micros: 0, input_tokens: 0, output_tokens: 0 })
  })

  it('has the price of a request once', async () => {
    await start({
      models: [
        {
          name: 'rt',
          provider: 'first',
          supports_realtime: true,
          pricing: { input: 1, output: 1, requests: 0.5 },
        },
      ],
      api_keys: [],
    })
    const talk = await rig.talk()
    await talk.say(done({ input_tokens: 10, output_tokens: 5 }))
    await talk.say(done({ input_tokens: 10, output_tokens: 5 }))
    expect(await rowOf(talk)).to.include({ cost_micros: 500_030 })
  })

  it('does not know the cost of a model without a price', async () => {
    await start({ models: [{ name: 'rt', provider: 'first', supports_realtime: true }], api_keys: [] })
    const talk = await rig.talk()
    await talk.say(done(turn))
    expect(await rowOf(talk)).to.include({ cost_micros: null, input_tokens: 700 })
  })

  describe('transcriptions cost what their own model costs', () => {
    const update = (model: string) => ({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { transcription: { model } } } },
    })

    it('by the second', async () => {
      await start()
      const talk = await rig.talk()
      talk.client.send(update('scribe'))
      await rig.upstream.when(() => talk.met.heard.length === 1)
      await talk.say(heard({ type: 'duration', seconds: 12.5 }))
      await talk.say(done(turn))
      const row = await rowOf(talk)
      expect(row).to.include({ cost_micros: 1_250 + turnMicros, input_tokens: 700 })
      expect(row.metadata['units']).to.deep.include({ seconds: 12.5 })
    })

    it('by tokens', async () => {
      await start()
      const talk = await rig.talk()
      talk.client.send(update('scribe-tokens'))
      await rig.upstream.when(() => talk.met.heard.length === 1)
      const details = { text_tokens: 10, audio_tokens: 90 }
      await talk.say(heard({ type: 'tokens', input_tokens: 100, output_tokens: 20, input_token_details: details }))
      const row = await rowOf(talk)
      expect(row).to.include({ cost_micros: 20 + 540 + 160, input_tokens: 100, output_tokens: 20 })
      expect(row.metadata['turns']).to.equal(0)
    })

    it('which is that of the session where the client names none', async () => {
      await start({
        models: [{ name: 'rt', provider: 'first', supports_realtime: true, pricing: { seconds: 0.001 } }],
        api_keys: [],
      })
      const talk = await rig.talk('model=rt&intent=transcription')
      await talk.say(heard({ type: 'duration', seconds: 2 }))
      expect(await rowOf(talk)).to.include({ cost_micros: 2_000 })
    })
  })

  for (const store of ['memory', 'Redis'] as const)
    describe(`charges a budget, counted in ${store}`, () => {
      let counting: Service | undefined
      beforeEach(async function () {
        if (store === 'Redis') counting = await redis(this)
      })
      afterEach(() => counting?.stop())
      const limited = (usd: number): GatewaySettings => ({
        api_keys: [{ name: 'limited', key, budget: { usd, period: 'day' } }],
        ...(counting ? { key_value: { url: counting.url } } : {}),
      })
      const spent = async () => {
        const response = await fetch(`${rig.gateway.url}/v1/models`, asLimited)
        await response.arrayBuffer()
        const rows = await rig.gateway.engine.database.rows('select sum(micros) as micros from limits_ledger')
        return Number((rows as readonly { micros: number | string | null }[])[0]?.micros ?? 0)
      }

      it('while the session goes on, and never twice', async () => {
        await start(limited(10))
        const talk = await rig.talk('model=rt', asLimited)
        await talk.say(done(turn))
        await until(async () => (await spent()) === turnMicros)
        await talk.say(done(turn))
        await until(async () => (await spent()) === 2 * turnMicros)
        const row = await rowOf(talk)
        expect(row.cost_micros).to.equal(2 * turnMicros)
        await rig.gateway.engine.flush()
        expect(await spent()).to.equal(2 * turnMicros)
        expect(row.metadata['charged']).to.deep.equal([{ bucket: 'key', usd: (2 * turnMicros) / 1e6 }])
      })

      it('and ends a session after the turn that uses it up', async () => {
        await start(limited(0.06))
        const talk = await rig.talk('model=rt', asLimited)
        await talk.say(done(turn))
        expect(talk.client.socket.readyState).to.equal(talk.client.socket.OPEN)
        expect(await talk.say(done(turn))).to.include('response.done')
        expect(await talk.client.nextJson())
          .to.deep.include({ type: 'error' })
          .and.have.nested.property('error.code', 'budget_exceeded')
        expect((await talk.client.closed).code).to.equal(1008)
        expect((await talk.met.closed).code).to.equal(1000)
        const row = await rig.gateway.row(({ type }) => type === 'realtime')
        expect(row).to.include({ result: 'failed', error: 'budget_exceeded', cost_micros: 2 * turnMicros })
        expect(JSON.parse(row.metadata)).to.deep.include({ turns: 2, close: { by: 'gateway', code: 1008 } })
        const again = rig.dial('model=rt', asLimited)
        expect(await again.nextJson()).to.have.nested.property('error.code', 'budget_exceeded')
        expect((await again.closed).code).to.equal(1008)
        expect(rig.upstream.upgrades).to.have.length(1)
      })
    })

  describe('takes from rate limits', () => {
    const models = async () => {
      const response = await fetch(`${rig.gateway.url}/v1/models`, asLimited)
      await response.arrayBuffer()
      return response.headers
    }

    it('one request per session, and its tokens as they are reported', async () => {
      await start({ api_keys: [{ name: 'limited', key, rate_limit: { requests: 2, tokens: 100_000, period: '1h' } }] })
      const before = Number((await models()).get('x-ratelimit-remaining-tokens'))
      expect(before).to.equal(100_000)
      const talk = await rig.talk('model=rt', asLimited)
      await talk.say(done(turn))
      // Reads of a cache do not count.
      const left = async () => Number((await models()).get('x-ratelimit-remaining-tokens'))
      await until(async () => (await left()) < before)
      expect(before - (await left())).to.be.within(1_100, 1_200)
      await rowOf(talk)
      await rig.gateway.engine.flush()
      expect(before - (await left())).to.be.within(1_100, 1_200)
      expect((await models()).get('x-ratelimit-remaining-requests')).to.equal('1')
    })

    it('and refuses a session beyond them', async () => {
      await start({ api_keys: [{ name: 'limited', key, rate_limit: { requests: 1, period: '1h' } }] })
      await rig.talk('model=rt', asLimited)
      const client = rig.dial('model=rt', asLimited)
      expect(await client.nextJson()).to.have.nested.property('error.code', 'rate_limit_exceeded')
      expect((await client.closed).code).to.equal(1008)
      expect(rig.upstream.upgrades).to.have.length(1)
    })
  })
})
