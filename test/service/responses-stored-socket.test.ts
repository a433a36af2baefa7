import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { connect } from '../engine/http/socket-client.ts'
import type { SocketClient } from '../engine/http/socket-client.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { asked, refused } from './stored-upstreams.ts'
import { arrived, chatFrames } from './streams.ts'

describe('the conversation on a socket', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  const open: SocketClient[] = []
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [{ name: 'chat', type: 'compatible', base_url: upstream.url }],
      models: [{ name: 'chat', provider: 'chat' }],
    })
  })
  afterEach(async () => {
    for (const { socket, closed } of open.splice(0)) {
      socket.close()
      await closed
    }
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const socket = async () => {
    const client = await connect(gateway, '/v1/responses')
    open.push(client)
    return client
  }
  /** One turn: its last event. */
  const turn = async (client: SocketClient, fields: JsonObject) => {
    client.send({ type: 'response.create', model: 'chat', ...fields })
    for (;;) {
      const event = (await client.nextJson()) as JsonObject & {
        type: string
        response?: JsonObject
        error?: JsonObject
      }
      if (event.type === 'error' || /^response\.(completed|incomplete|failed)$/.test(event.type)) return event
    }
  }
  const id = ({ response }: { response?: JsonObject }) => response?.['id'] as string
  const texts = () => (asked(upstream.requests.at(-1)!)['messages'] as JsonObject[]).map(({ content }) => content)
  const lost = { status: 400, code: 'previous_response_not_found' }
  const told = ({ status, error }: JsonObject & { error?: JsonObject }) => ({ status, code: error?.['code'] })

  it('goes on without being stored, there and nowhere else', async () => {
    upstream.answer({ frames: chatFrames('first') }, { frames: chatFrames('second') }, { frames: chatFrames('third') })
    const client = await socket()
    const one = await turn(client, { input: 'one', store: false })
    const two = await turn(client, { input: 'two', store: false, previous_response_id: id(one) })
    expect(two.type).to.equal('response.completed')
    expect(texts()).to.deep.equal(['one', 'first', 'two'])
    const elsewhere = await turn(await socket(), { input: 'x', previous_response_id: id(two) })
    expect(told(elsewhere)).to.deep.equal(lost)
    // Only the most recent response is remembered.
    expect(told(await turn(client, { input: 'x', previous_response_id: id(one) }))).to.deep.equal(lost)
    const three = await turn(client, { input: 'three', previous_response_id: id(two) })
    expect(three.type).to.equal('response.completed')
    expect(texts()).to.deep.equal(['one', 'first', 'two', 'second', 'three'])
  })

  it('goes on elsewhere once it is stored', async () => {
    upstream.answer({ frames: chatFrames('first') }, { frames: chatFrames('second') })
    const one = await turn(await socket(), { input: 'one' })
    expect((await turn(await socket(), { input: 'two', previous_response_id: id(one) })).type).to.equal(
      'response.completed',
    )
    expect(texts()).to.deep.equal(['one', 'first', 'two'])
  })

  it('is forgotten after a turn that failed, unless it was stored', async () => {
    for (const store of [false, true]) {
      upstream.answer({ frames: chatFrames('first') }, refused(400, { message: 'no' }), {
        frames: chatFrames('second'),
      })
      const client = await socket()
      const one = await turn(client, { input: 'one', store })
      const goOn = { input: 'two', store, previous_response_id: id(one) }
      expect((await turn(client, goOn)).type).to.equal('error')
      const again = await turn(client, goOn)
      if (store) expect(again.type).to.equal('response.completed')
      else expect(told(again)).to.deep.equal(lost)
    }
  })

  it('is forgotten after a turn that broke off in the midst of its stream', async () => {
    const broken = { ...arrived(chatFrames('sec', 'ond').slice(0, 2)), ending: 'reset' } as const
    upstream.answer({ frames: chatFrames('first') }, broken, { frames: chatFrames('third') })
    const client = await socket()
    const one = await turn(client, { input: 'one', store: false })
    const goOn = { input: 'two', store: false, previous_response_id: id(one) }
    client.send({ type: 'response.create', model: 'chat', ...goOn })
    const types: string[] = []
    do types.push(((await client.nextJson()) as { type: string }).type)
    while (types.at(-1) !== 'error')
    expect(types).to.include('response.output_text.delta')
    expect(told(await turn(client, goOn))).to.deep.equal(lost)
    expect((await turn(client, { input: 'anew', store: false })).type).to.equal('response.completed')
  })

  it('goes on from what was deleted over HTTP, there and nowhere else', async () => {
    upstream.answer({ frames: chatFrames('first') }, { frames: chatFrames('second') })
    const client = await socket()
    const one = await turn(client, { input: 'one' })
    const deleted = await fetch(`${gateway.url}/v1/responses/${id(one)}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${gateway.key}` },
    })
    expect(deleted.status).to.equal(200)
    const goOn = { input: 'two', previous_response_id: id(one) }
    expect(told(await turn(await socket(), goOn))).to.deep.equal(lost)
    expect((await turn(client, goOn)).type).to.equal('response.completed')
    expect(texts()).to.deep.equal(['one', 'first', 'two'])
  })

  it('is forgotten after an output that no call waits for', async () => {
    upstream.answer({ frames: chatFrames('first') })
    const client = await socket()
    const one = await turn(client, { input: 'one', store: false })
    const output = { type: 'function_call_output', call_id: 'call_none', output: 'x' }
    const wrong = await turn(client, { input: [output], store: false, previous_response_id: id(one) })
    expect(wrong).to.deep.include({ type: 'error', status: 400 })
    expect(wrong.error?.['message']).to.equal('No tool call found for function call output with call_id call_none.')
    expect(told(await turn(client, { input: 'on', previous_response_id: id(one) }))).to.deep.equal(lost)
  })

  it('is not remembered beyond 16 MiB, unless it was stored', async () => {
    const input = 'x'.repeat(9 * 1024 * 1024)
    const prepared = { input, generate: false }
    const client = await socket()
    const one = await turn(client, { ...prepared, store: false })
    const two = await turn(client, { ...prepared, store: false, previous_response_id: id(one) })
    expect(two.type).to.equal('response.completed')
    expect(told(await turn(client, { input: 'x', previous_response_id: id(two) }))).to.deep.equal(lost)
    const stored = await turn(client, { ...prepared, input: input + input })
    upstream.answer({ frames: chatFrames('first') })
    expect((await turn(client, { input: 'on', previous_response_id: id(stored) })).type).to.equal('response.completed')
    expect(texts()).to.deep.equal([input + input, 'on'])
  })

  it('begins with what was prepared', async () => {
    upstream.answer({ frames: chatFrames('first') })
    const client = await socket()
    const ready = await turn(client, { input: [{ role: 'user', content: 'one' }], store: false, generate: false })
    expect(ready.response).to.deep.include({ status: 'completed', output: [] })
    await turn(client, { input: 'two', store: false, previous_response_id: id(ready) })
    expect(texts()).to.deep.equal(['one', 'two'])
    const nothing = await turn(client, { input: 'x', generate: false, previous_response_id: 'resp_nowhere' })
    expect(told(nothing)).to.deep.equal(lost)
  })
})
