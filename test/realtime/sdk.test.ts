import { createConnection } from 'node:net'
import { once } from 'node:events'
import { expect } from 'chai'
import OpenAI from 'openai'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'
import type { RealtimeServerEvent } from 'openai/resources/realtime/realtime'
import { startGateway } from '../support/gateway.ts'
import { startMock } from '../support/mock.ts'
import { keyword, startRig } from './rig.ts'
import type { Rig } from './rig.ts'

/** The official client; it asks for TLS always, which a test server does not speak. */
function official(url: string, apiKey: string, model = 'rt'): OpenAIRealtimeWS {
  const { port } = new URL(url)
  const plain = () => createConnection({ port: Number(port), host: '127.0.0.1' })
  return new OpenAIRealtimeWS(
    { model, options: { createConnection: plain } },
    new OpenAI({ apiKey, baseURL: `${url}/v1` }),
  )
}

describe('realtime/sdk', () => {
  let rig: Rig
  beforeEach(async () => {
    rig = await startRig()
  })
  afterEach(() => rig.close())

  const opened = async (session: OpenAIRealtimeWS) => {
    await once(session.socket, 'open')
    await rig.upstream.when(() => rig.upstream.sessions.length > 0)
    const met = rig.upstream.sessions[0]
    if (!met) throw new Error('no session')
    return met
  }
  const next = (session: OpenAIRealtimeWS) =>
    new Promise<RealtimeServerEvent>((resolve) => {
      const hear = (one: RealtimeServerEvent) => {
        session.off('event', hear)
        resolve(one)
      }
      session.on('event', hear)
    })

  it('the official client talks with the provider', async () => {
    const session = official(rig.gateway.url, rig.gateway.key)
    const met = await opened(session)
    session.send({ type: 'session.update', session: { type: 'realtime', model: 'rt', output_modalities: ['text'] } })
    await rig.upstream.when(() => met.heard.length === 1)
    expect(JSON.parse(met.heard[0]?.slice(5) ?? '')).to.deep.equal({
      type: 'session.update',
      session: { type: 'realtime', model: 'rt-2026', output_modalities: ['text'] },
    })
    const text = next(session)
    met.socket.send(JSON.stringify({ type: 'response.output_text.delta', event_id: 'e1', delta: 'Hello.' }))
    expect(await text).to.include({ type: 'response.output_text.delta', delta: 'Hello.' })
    const closed = once(session.socket, 'close')
    session.close()
    await closed
    expect((await met.closed).code).to.equal(1000)
  })

  it('the official client hears why a session is refused', async () => {
    const session = official(rig.gateway.url, rig.gateway.key, 'none')
    const [error] = (await once(session as never, 'error')) as [{ error?: { code?: string } }]
    expect(error.error).to.include({ code: 'model_not_found' })
  })

  it('the official client hears that its key is wrong', async () => {
    const session = official(rig.gateway.url, 'sk-wrong')
    const closed = once(session.socket, 'close')
    const [error] = (await once(session as never, 'error')) as [{ error?: { code?: string } }]
    expect(error.error).to.include({ code: 'invalid_api_key' })
    expect((await closed)[0]).to.equal(4401)
  })

  for (const side of ['client', 'upstream'] as const)
    it(`the official client hears when the ${side} is killed`, async () => {
      const session = official(rig.gateway.url, rig.gateway.key)
      session.on('error', () => undefined)
      const met = await opened(session)
      const closed = once(session.socket, 'close')
      if (side === 'client') session.socket.terminate()
      else met.socket.terminate()
      expect((await closed)[0]).to.equal(side === 'client' ? 1006 : 1011)
      expect((await met.closed).code).to.equal(side === 'client' ? 1001 : 1006)
    })

  it('a browser shows its key as a subprotocol', async () => {
    const url = `${rig.gateway.url.replace('http', 'ws')}/v1/realtime?model=rt`
    const socket = new globalThis.WebSocket(url, ['realtime', keyword + rig.gateway.key])
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
    expect(socket.protocol).to.equal('realtime')
    await rig.upstream.when(() => rig.upstream.sessions.length === 1)
    const met = rig.upstream.sessions[0]
    const heard = new Promise<unknown>((resolve) =>
      socket.addEventListener('message', ({ data }) => resolve(data), { once: true }),
    )
    met?.socket.send('{"type":"session.created"}')
    expect(await heard).to.equal('{"type":"session.created"}')
    const closed = new Promise<number>((resolve) => socket.addEventListener('close', ({ code }) => resolve(code)))
    met?.socket.close(4321, 'bye')
    expect(await closed).to.equal(4321)
    expect(met?.request.rawHeaders.join()).not.to.include(rig.gateway.key)
  })

  it('a third party’s idea of the provider is content with what it is sent', async () => {
    const third = await startMock()
    third.mock.on({ userMessage: 'hello' }, { content: 'Hello there.' })
    const gateway = await startGateway({
      providers: [{ name: 'mock', type: 'native', base_url: third.mock.url, api_key: 'mock-key' }],
      models: [{ name: 'rt', provider: 'mock', upstream_model: 'gpt-realtime', supports_realtime: true }],
    })
    const session = official(gateway.url, gateway.key)
    const types: string[] = []
    let said = ''
    const over = new Promise<void>((resolve, reject) => {
      session.on('error', reject)
      session.on('event', (one) => {
        types.push(one.type)
        if (one.type === 'session.created') {
          session.send({
            type: 'conversation.item.create',
            item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
          })
          session.send({ type: 'response.create', response: { output_modalities: ['text'] } })
        }
        if (one.type === 'response.output_text.delta') said += one.delta
        if (one.type === 'response.done') resolve()
      })
    })
    await over
    expect(said).to.equal('Hello there.')
    expect(types[0]).to.equal('session.created')
    session.close()
    const row = await gateway.row(({ type }) => type === 'realtime')
    expect(JSON.parse(row.metadata)).to.include({ turns: 1 })
    await gateway.close()
    await third.close()
  })
})
