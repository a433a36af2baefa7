import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { GenerateReply, GenerateRequest, ToldCall, ToldExchange } from '../../engine/index.ts'
import { connect } from '../engine/http/socket-client.ts'
import { text } from '../golden/files.ts'
import { clients, pairs, streamed } from '../golden/pairs.ts'
import { Session } from '../golden/session.ts'
import { startRig } from '../realtime/rig.ts'
import { startGateway } from '../support/gateway.ts'
import type { GatewaySettings, RunningGateway } from '../support/gateway.ts'
import { result, speaking, startMcp } from '../support/mcp.ts'
import { until } from '../support/until.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script } from '../support/upstream.ts'
import { chatAnswer } from './streams.ts'

/** Hears how calls and exchanges end. Of a call whose contents it keeps, it asks for them. */
class Ear {
  readonly calls: ToldCall[] = []
  readonly exchanges: ToldExchange[] = []
  /** What was told as soon as it was told, as text. */
  readonly texts: string[] = []
  readonly #keeps: boolean
  readonly #begun = (call: unknown) => {
    if (this.#keeps) (call as ToldCall).keeps = true
  }
  readonly #called = (call: unknown) => {
    this.calls.push(call as ToldCall)
    this.texts.push(JSON.stringify(call))
  }
  readonly #over = (exchange: unknown) => {
    this.exchanges.push(exchange as ToldExchange)
    this.texts.push(JSON.stringify(exchange))
  }

  constructor(keeps = true) {
    this.#keeps = keeps
    subscribe('sluice:call:start', this.#begun)
    subscribe('sluice:call:end', this.#called)
    subscribe('sluice:exchange:end', this.#over)
  }

  /** The last exchange that is over, with its calls. */
  async heard(count = 1): Promise<{ calls: readonly ToldCall[]; exchange: ToldExchange }> {
    await until(() => this.exchanges.length >= count)
    const exchange = this.exchanges.at(-1)!
    return { exchange, calls: this.calls.filter((call) => call.exchange === exchange.id) }
  }

  close(): void {
    unsubscribe('sluice:call:start', this.#begun)
    unsubscribe('sluice:call:end', this.#called)
    unsubscribe('sluice:exchange:end', this.#over)
  }
}

function textOf({ items }: GenerateReply | GenerateRequest): string {
  const parts = items.flatMap((item) => (item.type === 'message' ? item.content : []))
  return parts.map((part) => ('text' in part ? part.text : '')).join('')
}

describe('what is told of calls', function () {
  this.timeout(120_000)

  describe('that generate', () => {
    const session = new Session()
    let ear: Ear
    beforeEach(() => void (ear = new Ear()))
    afterEach(() => ear.close())

    for (const client of clients)
      for (const { name, protocol } of pairs[client].filter(({ requestsOnly }) => !requestsOnly))
        for (const stream of [false, true])
          it(`has what they used and cost, when content came, and contents on request: ${client} to ${name}, ${stream ? 'streamed' : 'whole'}`, async () => {
            if (stream) session.answer(text(`answers/full.${protocol}.frames.txt`), protocol)
            else session.answer(text(`answers/full.${protocol}.json`))
            const given = client === 'gemini' ? { generationConfig: { temperature: 0.5 } } : { temperature: 0.5 }
            const { status } = await session.ask(client, name, { ...given, ...(stream ? streamed[client] : {}) })
            expect(status).to.equal(200)
            const { calls, exchange } = await ear.heard()
            expect(calls).to.have.length(1)
            const [call] = calls as [ToldCall]
            const { port } = new URL(session.upstream.url)
            expect(call).to.deep.include({
              streamed: stream,
              lane: protocol === client ? 'bytes' : 'translated',
              server: { address: '127.0.0.1', port: Number(port) },
            })
            const row = (await session.gateway.rows()).at(-1)
            expect(call.metered?.usage?.output).to.be.greaterThan(0)
            expect(call.metered?.usage?.input).to.equal(row?.['input_tokens'])
            expect(call.metered?.usage).to.deep.equal(exchange.bill?.tokens)
            expect(call.cost).to.deep.equal(exchange.bill?.cost)
            expect(call.asked?.()).to.include({ temperature: 0.5, items: 1, stream })
            const { request, reply } = call.content?.() ?? {}
            expect(textOf(request as GenerateRequest)).to.equal('Hello')
            expect(textOf(reply as GenerateReply)).to.include('cat')
            expect(exchange).to.include({ requested: name, model: name, tries: 1 })
            expect(exchange.configVersion).to.equal(session.gateway.engine.live.current.version)
            if (client === 'gemini') {
              expect(exchange.route).to.match(/^\/v1beta\/models\/\*:/)
              expect(exchange.path).to.match(new RegExp(`^/v1beta/models/${name}:`))
            } else expect(exchange.route).to.equal(exchange.path)
            const times = [call.firstContent, call.lastContent, exchange.firstContent, exchange.lastContent]
            if (!stream) expect(times).to.deep.equal([undefined, undefined, undefined, undefined])
            else {
              expect(call.firstContent).to.be.within(0, call.lastContent ?? -1)
              expect(exchange.firstContent).to.be.at.least(call.firstContent ?? Infinity)
            }
            for (const hidden of ['Hello', 'cat']) expect(ear.texts.join('\n')).not.to.include(hidden)
          })

    it('has all of it for a message of a WebSocket, too', async () => {
      session.answer(text('answers/full.responses.frames.txt'), 'responses')
      const client = await connect(session.gateway, '/v1/responses')
      const input = [{ role: 'user', content: 'Hello' }]
      client.send({ type: 'response.create', model: 'responses', input, store: false })
      const { calls, exchange } = await ear.heard()
      client.socket.close()
      await client.closed
      expect(exchange).to.include({ transport: 'ws', route: '/v1/responses', requested: 'responses', tries: 1 })
      expect(calls).to.have.length(1)
      expect(calls[0]).to.include({ streamed: true, lane: 'bytes' })
      expect(calls[0]?.metered?.usage).to.deep.equal(exchange.bill?.tokens)
      expect(calls[0]?.firstContent).to.be.within(0, calls[0]?.lastContent ?? -1)
      expect(textOf(calls[0]?.content?.().reply as GenerateReply)).to.include('cat')
    })

    it('keeps no contents that nobody wants', async () => {
      ear.close()
      ear = new Ear(false)
      session.answer(text('answers/full.chat.json'))
      await session.ask('chat', 'compatible', {})
      const { calls } = await ear.heard()
      expect(calls[0]?.content).to.equal(undefined)
      expect(calls[0]?.metered?.id).to.be.a('string')
    })
  })

  const told = async (
    settings: GatewaySettings,
    listen: (gateway: RunningGateway, ear: Ear, answer: (scripts: Script[]) => void) => Promise<void>,
  ) => {
    const upstream = await scriptedUpstream()
    const ear = new Ear()
    const at = { type: 'compatible', base_url: upstream.url }
    const gateway = await startGateway({
      providers: [
        { name: 'many', ...at, api_keys: ['key-one-of-two-0001', 'key-two-of-two-0002'] },
        { name: 'other', ...at, api_key: 'key' },
      ],
      models: [
        {
          name: 'wild/*',
          provider: 'many',
          upstream_model: '*',
          fallbacks: ['other'],
          pricing: { input: 1, output: 2 },
        },
        { name: 'other', provider: 'other', auto_eligible: true, pricing: { input: 10, output: 20 } },
      ],
      server_config: { resilience: { retries: { wait: '1ms' }, breaker: { enabled: false } } },
      ...settings,
    })
    try {
      await listen(gateway, ear, (scripts) => upstream.answer(...(scripts as [Script, ...Script[]])))
    } finally {
      ear.close()
      await gateway.close()
      await upstream.close()
    }
  }
  const chat = (model: string) => ({ model, messages: [{ role: 'user', content: 'Hello' }] })

  it('names the key of the provider, and the record of a name that a pattern matches', () =>
    told({ key_fields: { tags: { team: 'red' } } }, async (gateway, ear, answer) => {
      answer([{ body: chatAnswer }])
      for (const count of [1, 2]) {
        await (await gateway.post('/v1/chat/completions', chat('wild/one'))).text()
        await ear.heard(count)
      }
      expect(ear.calls.map(({ key }) => key)).to.deep.equal([0, 1])
      const [exchange] = ear.exchanges
      expect(exchange).to.include({ model: 'wild/one', requested: 'wild/one', record: 'wild/*' })
      expect(exchange?.tags).to.deep.equal({ team: 'red' })
    }))

  it('has the cost of a try that failed, too: those of all calls add up to the bill', () =>
    told({}, async (gateway, ear, answer) => {
      const { usage } = chatAnswer
      answer([
        { status: 503, body: { error: { message: 'no room' }, usage } },
        { status: 503, body: { error: { message: 'no room' }, usage } },
        { body: chatAnswer },
      ])
      const response = await gateway.post('/v1/chat/completions', chat('wild/one'))
      expect(response.status).to.equal(200)
      await response.text()
      const { calls, exchange } = await ear.heard()
      expect(exchange.tries).to.equal(calls.length)
      expect(calls.length).to.be.greaterThan(1)
      const sum = calls.reduce((all, { cost }) => all + (cost?.micros ?? 0), 0)
      expect(sum).to.equal(exchange.bill?.cost.micros)
      expect(calls.at(-1)?.metered?.usage).to.include({ input: 9, output: 4 })
      expect(calls.map(({ status }) => status).at(-1)).to.equal(200)
    }))

  it('has the parameters of a request that has no neutral form, but not how many items it had', () =>
    told({}, async (gateway, ear, answer) => {
      answer([{ body: chatAnswer }])
      const asked = { ...chat('other'), n: 2, temperature: 0.5 }
      const response = await gateway.post('/v1/chat/completions', asked)
      expect(response.status, await response.text()).to.equal(200)
      const { calls } = await ear.heard()
      const parameters = calls[0]?.asked?.() ?? {}
      expect({ ...parameters }).to.include({ choices: 2, temperature: 0.5, items: undefined })
    }))

  it('has the number of answers that a request asks for, in each spelling', () =>
    told({}, async (gateway, ear, answer) => {
      const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
      for (const config of [{ candidateCount: 2 }, { candidate_count: 3 }])
        for (const name of ['generationConfig', 'generation_config']) {
          answer([{ body: chatAnswer }])
          const asked = { contents, [name]: config }
          await (await gateway.post('/v1beta/models/other:generateContent', asked)).text()
          const { calls } = await ear.heard()
          expect(calls[0]?.asked?.()).to.include({ choices: Object.values(config)[0] })
        }
    }))

  it('has no call of what asked nobody', () =>
    told({}, async (gateway, ear) => {
      await (await gateway.post('/v1/chat/completions', chat('nothing'))).text()
      const { calls, exchange } = await ear.heard()
      expect([calls.length, exchange.tries, exchange.requested]).to.deep.equal([0, 0, undefined])
    }))

  it('tells how smart routing took a request, and what that saved', () =>
    told({ server_config: { smart_routing: { enabled: true } } }, async (gateway, ear, answer) => {
      answer([{ body: chatAnswer }])
      const response = await gateway.post('/v1/chat/completions', chat('auto'))
      const said = await response.text()
      expect(response.status, said).to.equal(200)
      const { exchange } = await ear.heard()
      expect(exchange).to.include({ requested: 'auto', model: 'other', savings: 0 })
      expect(exchange.tier).to.be.a('string')
    }))

  it('tells of messages to MCP servers', async () => {
    const rig = await startMcp()
    const ear = new Ear()
    try {
      rig.upstream.answer(speaking(({ id }) => result(id, { content: [] })))
      const opened = await rig.open()
      await ear.heard(1)
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'dig', arguments: { where: 'oak' } } }
      expect((await rig.post(call, { session: opened })).status).to.equal(200)
      const { calls } = await ear.heard(2)
      const { port } = new URL(rig.upstream.url)
      expect(calls).to.have.length(1)
      expect(calls[0]).to.deep.include({
        provider: 'docs',
        type: 'http',
        protocol: 'mcp',
        status: 200,
        server: { address: '127.0.0.1', port: Number(port) },
      })
      expect(ear.calls.map(({ asked }) => asked?.())).to.deep.equal([
        { method: 'initialize' },
        { method: 'tools/call', name: 'dig' },
      ])
      expect(ear.texts.join('\n')).not.to.include('oak')
    } finally {
      ear.close()
      await rig.close()
    }
  })

  it('tells of a realtime session as of one call, with all that it used', async () => {
    const rig = await startRig()
    const ear = new Ear()
    try {
      const { client, met, say } = await rig.talk()
      const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }
      await say({ type: 'response.done', response: { id: 'r', status: 'completed', usage } })
      client.socket.close()
      await met.closed
      const { calls, exchange } = await ear.heard()
      expect(calls).to.have.length(1)
      expect(calls[0]).to.include({ streamed: true, lane: 'bytes', provider: 'first', model: 'rt-2026' })
      expect(calls[0]?.metered?.usage).to.include({ input: 100, output: 10 })
      expect(calls[0]?.cost).to.deep.equal(exchange.bill?.cost)
      expect(calls[0]?.cost?.micros).to.equal(560)
    } finally {
      ear.close()
      await rig.close()
    }
  })
})
