import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway, GatewaySettings } from '../support/gateway.ts'
import { redis } from '../support/services.ts'
import type { Service } from '../support/services.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream, Script } from '../support/upstream.ts'
import { asked, chatSaying, message, messagesSaying, nativeAnswer, nativeStream, refused } from './stored-upstreams.ts'
import { chatAnswer, messagesAnswer } from './streams.ts'

const stranger = 'sk-stranger-0123456789abcdef0123456789abcdef'

describe('the conversation of a stored response', () => {
  let upstream: ScriptedUpstream
  let settings: GatewaySettings
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    settings = {
      providers: [
        { name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'key-v', conversations: 'vendor' },
        { name: 'plain', type: 'native', base_url: upstream.url, api_key: 'key-p' },
        { name: 'chat', type: 'compatible', base_url: upstream.url },
        { name: 'thinker', type: 'compatible', base_url: upstream.url, traits: { reasoning_content: true } },
        { name: 'local', type: 'compatible', base_url: upstream.url, offers: ['responses'] },
        { name: 'messages', type: 'messages', base_url: upstream.url, api_key: 'key-m' },
      ],
      models: [
        { name: 'vendor', provider: 'vendor', upstream_model: 'gpt-vendor' },
        { name: 'other', provider: 'vendor', upstream_model: 'o-vendor' },
        { name: 'safe', provider: 'vendor', upstream_model: 'gpt-safe', fallbacks: ['chat'] },
        { name: 'plain', provider: 'plain', upstream_model: 'gpt-plain' },
        { name: 'chat', provider: 'chat' },
        { name: 'thinker', provider: 'thinker' },
        { name: 'local', provider: 'local' },
        { name: 'messages', provider: 'messages' },
      ],
      api_keys: [{ name: 'stranger', key: stranger }],
    }
    gateway = await startGateway(settings)
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  /** Asks; gives the answer and, if there was one, what the upstream was asked. */
  const ask = async (body: JsonObject, through = gateway, key = gateway.key) => {
    const before = upstream.requests.length
    const response = await through.post('/v1/responses', body, { authorization: `Bearer ${key}` })
    const answer = (await response.json()) as JsonObject & { id: string; error: JsonObject | null }
    const sent = upstream.requests[before]
    return { status: response.status, answer, sent: sent && asked(sent), raw: sent?.body.toString() }
  }
  const items = (sent: JsonObject | undefined, field: string) => (sent?.[field] ?? []) as readonly JsonObject[]
  const lost = (id: string) => ({
    message: `Previous response with id "${id}" not found.`,
    type: 'invalid_request_error',
    param: 'previous_response_id',
    code: 'previous_response_not_found',
  })
  const call = (id: string): JsonObject => ({
    id: `fc_${id}`,
    type: 'function_call',
    call_id: `call_${id}`,
    name: 'look',
    arguments: '{}',
    status: 'completed',
  })

  describe('of three turns', () => {
    const turns = async (model: string, through = gateway) => {
      const one = await ask({ model, input: 'one', instructions: 'Be brief.' }, through)
      const two = await ask(
        { model, input: [{ role: 'user', content: 'two' }], previous_response_id: one.answer.id },
        through,
      )
      const three = await ask(
        { model, input: 'three', previous_response_id: two.answer.id, instructions: 'Now.' },
        through,
      )
      expect([one.status, two.status, three.status]).to.deep.equal([200, 200, 200])
      expect(three.answer['previous_response_id']).to.equal(two.answer.id)
      return three.sent
    }

    it('reaches an upstream of chat completions', async () => {
      upstream.answer(chatSaying('first'), chatSaying('second'), chatSaying('third'))
      expect(await turns('chat')).to.deep.include({
        messages: [
          { role: 'system', content: 'Now.' },
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'first' },
          { role: 'user', content: 'two' },
          { role: 'assistant', content: 'second' },
          { role: 'user', content: 'three' },
        ],
      })
    })

    it('reaches an upstream of messages', async () => {
      upstream.answer(messagesSaying('first'), messagesSaying('second'), messagesSaying('third'))
      const sent = await turns('messages')
      expect(sent?.['system']).to.equal('Now.')
      expect(sent?.['messages']).to.deep.equal(
        ['one', 'first', 'two', 'second', 'three'].map((text, index) => ({
          role: index % 2 === 0 ? 'user' : 'assistant',
          content: [{ type: 'text', text }],
        })),
      )
    })

    it('gives an upstream of messages its own thinking back, and nobody else', async () => {
      const thinking = { type: 'thinking', thinking: 'hm', signature: 'signed' }
      const thought: Script = { body: { ...messagesAnswer, content: [thinking, { type: 'text', text: 'first' }] } }
      upstream.answer(thought, messagesSaying('second'), chatSaying('third'))
      const reasoning = { effort: 'low' }
      const { answer } = await ask({ model: 'messages', input: 'one', reasoning })
      const two = await ask({ model: 'messages', input: 'two', reasoning, previous_response_id: answer.id })
      expect(items(two.sent, 'messages')[1]).to.deep.equal({
        role: 'assistant',
        content: [thinking, { type: 'text', text: 'first' }],
      })
      const three = await ask({ model: 'chat', input: 'three', previous_response_id: two.answer.id })
      expect(JSON.stringify(three.sent)).to.include('first').and.not.include('signed').and.not.include('hm')
    })

    it('gives an upstream of chat completions its reasoning back, which no client was shown', async () => {
      const said = { role: 'assistant', content: 'first', reasoning_content: 'hm' }
      const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
        data: { ...chatAnswer, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] },
      })
      const thought: readonly [boolean, Script][] = [
        [false, { body: { ...chatAnswer, choices: [{ index: 0, message: said, finish_reason: 'stop' }] } }],
        [
          true,
          { frames: [chunk({ reasoning_content: 'hm' }), chunk({ content: 'first' }), chunk({}, 'stop'), '[DONE]'] },
        ],
      ]
      for (const [stream, script] of thought) {
        upstream.answer(script, chatSaying('second'))
        const one = await gateway.post('/v1/responses', { model: 'thinker', input: 'one', stream })
        const text = await one.text()
        expect(text).to.include('first').and.not.include('encrypted_content')
        const id = /"id":"(resp_\w+)"/.exec(text)?.[1] ?? ''
        const kept = await fetch(`${gateway.url}/v1/responses/${id}`, {
          headers: { authorization: `Bearer ${gateway.key}` },
        })
        expect(await kept.text())
          .to.include('first')
          .and.not.include('encrypted_content')
        const two = await ask({ model: 'thinker', input: 'two', previous_response_id: id })
        expect(items(two.sent, 'messages')[1]).to.deep.equal(said)
      }
    })

    it('reaches an upstream of responses that keeps none itself', async () => {
      const answer = (index: number, text: string) => ({
        body: nativeAnswer(
          `resp_l${index}`,
          [message(`msg_l${index}`, text)],
          index === 3 ? { previous_response_id: 'resp_l2' } : {},
        ),
      })
      upstream.answer(answer(1, 'first'), answer(2, 'second'), answer(3, 'third'))
      const sent = await turns('local')
      expect(sent).to.not.have.property('previous_response_id')
      expect(sent?.['instructions']).to.equal('Now.')
      expect(items(sent, 'input').map(({ role, content }) => [role, content])).to.deep.equal(
        ['one', 'first', 'two', 'second', 'three'].map((text, index) =>
          index % 2 === 0
            ? ['user', [{ type: 'input_text', text }]]
            : ['assistant', [{ type: 'output_text', text, annotations: [] }]],
        ),
      )
    })
  })

  describe('that both hold', () => {
    const roles = (sent: JsonObject | undefined) => items(sent, 'input').map(({ type, role }) => role ?? type)
    const reasoning = { id: 'rs_b', type: 'reasoning', summary: [], encrypted_content: 'cipher' }

    it('goes on from here, whatever the provider makes of its own copy', async () => {
      upstream.answer({ body: nativeAnswer('resp_b1', [reasoning, message('msg_b1', 'first')]) })
      await ask({ model: 'plain', input: 'one', include: ['reasoning.encrypted_content'] })
      upstream.answer({ body: nativeAnswer('resp_b2', [message('msg_b2', 'second')]) })
      const two = await ask({ model: 'plain', input: 'two', previous_response_id: 'resp_b1' })
      expect(two.sent).to.not.have.property('previous_response_id')
      expect(roles(two.sent)).to.deep.equal(['user', 'reasoning', 'assistant', 'user'])
      upstream.answer({ body: nativeAnswer('resp_b3', [message('msg_b3', 'third')]) })
      const three = await ask({ model: 'plain', input: 'three', previous_response_id: two.answer.id })
      expect(roles(three.sent)).to.deep.equal(['user', 'reasoning', 'assistant', 'user', 'assistant', 'user'])
    })

    for (const [name, script] of Object.entries({
      'a 400 with its code': refused(400, {
        message: 'No.',
        type: 'invalid_request_error',
        param: null,
        code: 'previous_response_not_found',
      }),
      'a 404': refused(404, { message: 'No.', type: 'invalid_request_error', param: null, code: null }),
      'a stream that begins with it': {
        frames: [
          {
            event: 'error',
            data: { type: 'error', code: 'previous_response_not_found', message: 'No.', param: null, status: 400 },
          },
        ],
      },
    }))
      it(`goes on from here after all when the provider has lost it: ${name}`, async () => {
        upstream.answer({ body: nativeAnswer('resp_g1', [message('msg_g1', 'first')]) })
        await ask({ model: 'vendor', input: 'one' })
        const before = upstream.requests.length
        upstream.answer(script, nativeStream(nativeAnswer('resp_g2', [message('msg_g2', 'second')])))
        const goOn = { input: 'two', previous_response_id: 'resp_g1', stream: true }
        const text = await (await gateway.post('/v1/responses', { model: 'vendor', ...goOn })).text()
        expect(text).to.include('response.completed').and.not.include('previous_response_not_found')
        const [first, second, ...more] = upstream.requests.slice(before).map(asked)
        expect(first).to.deep.equal({ model: 'gpt-vendor', ...goOn })
        expect(second).to.not.have.property('previous_response_id')
        expect(roles(second)).to.deep.equal(['user', 'assistant', 'user'])
        expect(more).to.deep.equal([])
      })
  })

  describe('that the provider holds itself', () => {
    const reasoning = { id: 'rs_h', type: 'reasoning', summary: [], encrypted_content: 'cipher' }
    const begin = async (more: JsonObject = {}) => {
      upstream.answer({ body: nativeAnswer('resp_h1', [reasoning, message('msg_h1', 'first')], more) })
      return ask({ model: 'vendor', input: 'one', ...more, include: ['reasoning.encrypted_content'] })
    }
    const goOn = { input: 'two', previous_response_id: 'resp_h1' }

    it('goes on in the very bytes of the client', async () => {
      await begin()
      upstream.answer({ body: nativeAnswer('resp_h2', [message('msg_h2', 'second')]) })
      const two = await ask({ model: 'vendor', ...goOn })
      expect(two.raw).to.equal(JSON.stringify({ model: 'gpt-vendor', ...goOn }))
      upstream.answer(nativeStream(nativeAnswer('resp_h3', [message('msg_h3', 'third')])))
      const body = { model: 'vendor', previous_response_id: 'resp_h2', input: 'three', stream: true }
      const before = upstream.requests.length
      expect(await (await gateway.post('/v1/responses', body)).text()).to.include('"resp_h3"')
      expect(upstream.requests[before]?.body.toString()).to.equal(JSON.stringify({ ...body, model: 'gpt-vendor' }))
      // Three turns later, somebody else gets all of it.
      upstream.answer(chatSaying('fourth'))
      const four = await ask({ model: 'chat', previous_response_id: 'resp_h3', input: 'four' })
      expect(items(four.sent, 'messages').map(({ content }) => content)).to.deep.equal([
        'one',
        'first',
        'two',
        'second',
        'three',
        'third',
        'four',
      ])
    })

    it('goes to another model as a whole, without the reasoning of the first', async () => {
      await begin()
      upstream.answer({ body: nativeAnswer('resp_h4', [message('msg_h4', 'second')]) })
      const { sent, status } = await ask({ model: 'other', ...goOn })
      expect(status).to.equal(200)
      expect(sent).to.not.have.property('previous_response_id')
      expect(items(sent, 'input').map(({ type, role }) => role ?? type)).to.deep.equal(['user', 'assistant', 'user'])
    })

    it('is not held where the client or the vendor did not store it: then its reasoning travels', async () => {
      await begin({ store: false })
      upstream.answer(
        refused(400, { message: 'x', type: 'invalid_request_error', param: 'previous_response_id', code: null }),
      )
      const unstored = await ask({ model: 'vendor', ...goOn, previous_response_id: 'resp_never' })
      expect([unstored.status, unstored.answer.error]).to.deep.equal([400, lost('resp_never')])

      upstream.answer({ body: nativeAnswer('resp_z1', [reasoning, message('msg_z1', 'first')], { store: false }) })
      await ask({ model: 'vendor', input: 'one', include: ['reasoning.encrypted_content'] })
      upstream.answer({ body: nativeAnswer('resp_z2', [message('msg_z2', 'second')]) })
      const { sent } = await ask({ model: 'vendor', input: 'two', previous_response_id: 'resp_z1' })
      const input = sent?.['input'] as JsonObject[]
      expect(input.map(({ type, role }) => role ?? type)).to.deep.equal(['user', 'reasoning', 'assistant', 'user'])
      expect(input[1]).to.deep.equal({ type: 'reasoning', summary: [], encrypted_content: 'cipher' })
    })

    it('goes as a whole to what is asked when the provider fails', async () => {
      await begin()
      upstream.answer(refused(503, { message: 'no room' }), chatSaying('second'))
      const before = upstream.requests.length
      const { status } = await ask({ model: 'safe', ...goOn })
      expect(status).to.equal(200)
      const [first, second] = upstream.requests.slice(before).map(asked)
      expect(first).to.deep.equal({ model: 'gpt-safe', ...goOn })
      expect(items(second, 'messages').map(({ content }) => content)).to.deep.equal(['one', 'first', 'two'])
    })

    it('cannot go on once it is deleted, though the provider still has it', async () => {
      await begin()
      await fetch(`${gateway.url}/v1/responses/resp_h1`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${gateway.key}` },
      })
      const { status, answer, sent } = await ask({ model: 'vendor', ...goOn })
      expect([status, answer.error, sent]).to.deep.equal([400, lost('resp_h1'), undefined])
    })
  })

  describe('that is not here', () => {
    it('is asked for at a provider that may have it', async () => {
      upstream.answer({ body: nativeAnswer('resp_n1', [message('msg_n1', 'on')]) })
      const body = { model: 'vendor', input: 'on', previous_response_id: 'resp_elsewhere' }
      const first = await ask(body)
      expect(first.raw).to.equal(JSON.stringify({ ...body, model: 'gpt-vendor' }))
      // What only it knows cannot go on anywhere else.
      const other = await ask({ model: 'chat', input: 'more', previous_response_id: 'resp_n1' })
      expect([other.status, other.answer.error, other.sent]).to.deep.equal([400, lost('resp_n1'), undefined])
      const again = await ask({ model: 'vendor', input: 'more', previous_response_id: 'resp_n1' })
      expect(again.sent).to.deep.include({ previous_response_id: 'resp_n1' })
    })

    it('is unknown when the provider does not have it either, whatever its words', async () => {
      const body = { model: 'vendor', input: 'on', previous_response_id: 'resp_elsewhere' }
      for (const script of [
        refused(404, { message: "Response with id 'resp_elsewhere' not found.", type: 'x', param: null, code: null }),
        refused(400, { message: 'No.', type: 'x', param: null, code: 'previous_response_not_found' }),
        refused(400, { message: 'No.', type: 'x', param: 'previous_response_id', code: null }),
      ]) {
        upstream.answer(script)
        const { status, answer } = await ask(body)
        expect([status, answer.error]).to.deep.equal([400, lost('resp_elsewhere')])
      }
      upstream.answer(refused(400, { message: 'Too long.', type: 'x', param: 'input', code: 'too_long' }))
      const { answer } = await ask(body)
      expect(answer.error).to.deep.include({ code: 'too_long', param: 'input' })
    })

    it('is unknown to every other provider', async () => {
      for (const model of ['chat', 'messages']) {
        const { status, answer, sent } = await ask({ model, input: 'on', previous_response_id: 'resp_elsewhere' })
        expect([status, answer.error, sent], model).to.deep.equal([400, lost('resp_elsewhere'), undefined])
      }
    })

    it('is unknown when it belongs to another key, and nobody is asked for it', async () => {
      upstream.answer({ body: nativeAnswer('resp_mine', [message('msg_mine', 'first')]) })
      await ask({ model: 'vendor', input: 'one' })
      const body = { model: 'vendor', input: 'on', previous_response_id: 'resp_mine' }
      const { status, answer, sent } = await ask(body, gateway, stranger)
      expect([status, answer.error, sent]).to.deep.equal([400, lost('resp_mine'), undefined])
    })
  })

  describe('in parts', () => {
    it('is put together from item references', async () => {
      upstream.answer({ body: nativeAnswer('resp_r1', [call('r1'), message('msg_r1', 'looking')]) })
      await ask({ model: 'vendor', input: 'one' })
      upstream.answer(chatSaying('first'), chatSaying('second'))
      const chat = await ask({ model: 'chat', input: 'hi' })
      const [said] = chat.answer['output'] as JsonObject[]
      const input = [
        { type: 'item_reference', id: 'fc_r1' },
        { type: 'function_call_output', call_id: 'call_r1', output: 'found' },
        { id: said?.['id'] },
        { id: 'msg_r1', type: null },
        { role: 'user', content: 'on' },
      ] as JsonObject[]
      const { sent, status, answer } = await ask({ model: 'chat', input })
      expect(status, JSON.stringify(answer)).to.equal(200)
      expect(items(sent, 'messages').map(({ role, content }) => [role, content])).to.deep.equal([
        ['assistant', null],
        ['tool', 'found'],
        ['assistant', 'first'],
        ['assistant', 'looking'],
        ['user', 'on'],
      ])
    })

    it('goes to the provider that holds all of them as it is', async () => {
      upstream.answer({ body: nativeAnswer('resp_r2', [message('msg_r2', 'first')]) })
      await ask({ model: 'vendor', input: 'one' })
      upstream.answer({ body: nativeAnswer('resp_r3', [message('msg_r3', 'second')]) })
      const input = [
        { type: 'item_reference', id: 'msg_r2' },
        { role: 'user', content: 'two' },
      ]
      const { raw } = await ask({ model: 'vendor', input })
      expect(raw).to.equal(JSON.stringify({ model: 'gpt-vendor', input }))
      // The later response knows what the earlier one said.
      upstream.answer(chatSaying('third'))
      const third = await ask({ model: 'chat', input: [{ id: 'msg_r2' }, { id: 'msg_r3' }] })
      expect(JSON.stringify(third.sent?.['messages'])).to.match(/first.*second/)
    })

    it('lacks what a reference does not find', async () => {
      const input = [
        { role: 'user', content: 'x' },
        { type: 'item_reference', id: 'msg_nowhere' },
      ]
      const unknown = {
        message: "Item with id 'msg_nowhere' not found.",
        type: 'invalid_request_error',
        param: 'input[1].id',
        code: 'item_not_found',
      }
      const chat = await ask({ model: 'chat', input })
      expect([chat.status, chat.answer.error, chat.sent]).to.deep.equal([400, unknown, undefined])
      upstream.answer(
        refused(404, {
          message: "Item with id 'msg_nowhere' not found. Items are not persisted.",
          type: 'x',
          param: 'input',
          code: null,
        }),
      )
      const native = await ask({ model: 'vendor', input })
      expect(native.raw).to.equal(JSON.stringify({ model: 'gpt-vendor', input }))
      expect([native.status, native.answer.error]).to.deep.equal([400, unknown])
    })

    it('needs a call for each output', async () => {
      const output = { type: 'function_call_output', call_id: 'call_none', output: 'x' }
      const orphan = {
        message: 'No tool call found for function call output with call_id call_none.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'invalid_value',
      }
      const alone = await ask({ model: 'vendor', input: [output] })
      expect([alone.status, alone.answer.error, alone.sent]).to.deep.equal([400, orphan, undefined])
      upstream.answer({ body: nativeAnswer('resp_c1', [call('c1')]) })
      const { answer } = await ask({ model: 'vendor', input: 'one' })
      const wrong = await ask({ model: 'vendor', input: [output], previous_response_id: answer.id })
      expect(wrong.answer.error).to.deep.equal(orphan)
      upstream.answer(chatSaying('done'))
      const right = await ask({
        model: 'chat',
        input: [{ ...output, call_id: 'call_c1' }],
        previous_response_id: answer.id,
      })
      expect(right.status).to.equal(200)
      // Who knows what the provider knows of it.
      upstream.answer({ body: nativeAnswer('resp_c2', []) })
      for (const more of [{ previous_response_id: 'resp_elsewhere' }, { conversation: 'conv_1' }])
        expect((await ask({ model: 'vendor', input: [output], ...more })).status).to.equal(200)
    })

    it('that refers to nothing earlier is passed on as it is', async () => {
      upstream.answer({ body: nativeAnswer('resp_p1', []) })
      const text = `{ "input": [{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},
        {"type":"function_call_output","call_id":"c","output":"x"}],  "model":"vendor" }`
      const before = upstream.requests.length
      await fetch(`${gateway.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
        body: text,
      })
      expect(upstream.requests[before]?.body.toString()).to.equal(text.replace('"vendor"', '"gpt-vendor"'))
    })
  })

  describe('where it is kept', () => {
    const one = { model: 'chat', input: 'one' }
    const contents = (sent: JsonObject | undefined) => items(sent, 'messages').map(({ content }) => content)

    it('outlives the gateway', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-stored-'))
      const before = await startGateway({ ...settings, folder })
      upstream.answer(chatSaying('first'), chatSaying('second'))
      const { answer } = await ask(one, before)
      await before.close()
      const afterwards = await startGateway({ ...settings, folder })
      try {
        const { sent } = await ask({ model: 'chat', input: 'two', previous_response_id: answer.id }, afterwards)
        expect(contents(sent)).to.deep.equal(['one', 'first', 'two'])
      } finally {
        await afterwards.close()
        await rm(folder, { recursive: true, force: true })
      }
    })

    describe('in a shared store', () => {
      let service: Service
      let here: RunningGateway
      let there: RunningGateway
      before(async function () {
        service = await redis(this)
        here = await startGateway({ ...settings, key_value: { url: service.url } })
        there = await startGateway({ ...settings, key_value: { url: service.url } })
      })
      after(async () => {
        await here?.close()
        await there?.close()
      })

      it('goes on at another gateway, for the same key', async () => {
        upstream.answer(chatSaying('first'), chatSaying('second'), chatSaying('third'))
        const { answer } = await ask(one, here)
        const two = await ask({ model: 'chat', input: 'two', previous_response_id: answer.id }, there)
        expect(two.status, JSON.stringify(two.answer)).to.equal(200)
        expect(contents(two.sent)).to.deep.equal(['one', 'first', 'two'])
        const three = await ask({ model: 'chat', input: 'three', previous_response_id: two.answer.id }, here)
        expect(contents(three.sent)).to.deep.equal(['one', 'first', 'two', 'second', 'three'])
      })

      it('costs no client its answer when the store is gone', async () => {
        upstream.answer(chatSaying('first'))
        const { answer } = await ask(one, here)
        await service.stop()
        upstream.answer(chatSaying('second'))
        const { status, answer: second } = await ask(one, here)
        expect(status).to.equal(200)
        const row = (await here.rows()).find(({ id }) => second.id.endsWith(id.replaceAll('-', '')))
        expect(JSON.parse(String(row?.metadata))).to.deep.include({ not_stored: 'the store failed' })
        const goingOn = await ask({ model: 'chat', input: 'two', previous_response_id: answer.id }, here)
        expect([goingOn.status, goingOn.answer.error?.['code']]).to.deep.equal([503, 'store_unavailable'])
      })
    })
  })
})
