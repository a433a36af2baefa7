import { expect } from 'chai'
import { startGeneration } from '../support/generation.ts'
import type { Generation } from '../support/generation.ts'
import { chatAnswer, messagesAnswer, responsesAnswer } from './streams.ts'

describe('a field that decides something', () => {
  let rig: Generation
  before(async () => (rig = await startGeneration({ models: [{ name: 'transcribe', provider: 'vendor' }] })))
  after(() => rig.close())

  const post = async (path: string, body: string | FormData) => {
    const response = await fetch(`${rig.gateway.url}${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${rig.gateway.key}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      body,
    })
    return { status: response.status, body: (await response.json()) as { error: { type: string; message: string } } }
  }

  const bodies = {
    '/v1/chat/completions': ['"model":"chat","messages":[{"role":"user","content":"hi"}]', chatAnswer],
    '/v1/responses': ['"model":"responses","input":"hi"', responsesAnswer],
    '/v1/messages': ['"model":"messages","max_tokens":9,"messages":[{"role":"user","content":"hi"}]', messagesAnswer],
  } as const

  for (const [path, [members, answer]] of Object.entries(bodies))
    it(`stands once and in its own spelling on ${path}`, async () => {
      rig.upstream.answer({ body: answer })
      expect((await post(path, `{${members}}`)).status).to.equal(200)
      const before = rig.upstream.requests.length
      const others = [
        '"Model":"expensive"',
        '"model":"expensive"',
        '"mode\\u006c":"expensive"',
        '"Stream":true',
        '"stream":false,"stream":true',
        '"store":true,"store":false',
        '"Store":true',
        '"BACKGROUND":true',
        '"previous_response_id":"resp_1","previous_response_id":"resp_2"',
        '"previous_response_id":null,"Previous_Response_Id":"resp_2"',
        '"Conversation":"conv_1"',
        '"routing":{},"routing":{}',
      ]
      for (const other of others)
        for (const text of [`{${members},${other}}`, `{${other},${members}}`]) {
          const { status, body } = await post(path, text)
          expect([status, body.error.type], text).to.deep.equal([400, 'invalid_request_error'])
          expect(body.error.message).to.match(/it is there more than once|it is written "/)
        }
      expect(rig.upstream.requests.length).to.equal(before)
    })

  it('stands once and in its own spelling in a form', async () => {
    rig.upstream.answer({ body: { text: 'hi' } })
    const form = (...others: readonly (readonly [string, string])[]) => {
      const made = new FormData()
      made.append('file', new Blob(['sound']), 'a.wav')
      for (const [name, value] of [['model', 'transcribe'] as const, ...others]) made.append(name, value)
      return post('/v1/audio/transcriptions', made)
    }
    expect((await form(['language', 'en'])).status).to.equal(200)
    for (const other of [
      ['Model', 'expensive'],
      ['model', 'expensive'],
      ['Stream', 'true'],
    ] as const) {
      const { status, body } = await form(other)
      expect(status, other.join()).to.equal(400)
      expect(body.error.message).to.match(/it is there more than once|it is written "/)
    }
    expect((await form(['stream', 'false'], ['stream', 'true'])).status).to.equal(400)
    expect(rig.upstream.requests.filter(({ path }) => path.endsWith('/transcriptions'))).to.have.length(1)
  })

  it('is refused where it is one of too many members, before anything is parsed', async () => {
    const before = rig.upstream.requests.length
    for (const members of ['[],'.repeat(200_000), '{"a":1},'.repeat(60_000), '0,'.repeat(2_000_000)])
      for (const [path, [others]] of Object.entries(bodies)) {
        const { status, body } = await post(path, `{${others},"metadata":[${members}0]}`)
        expect(status, path).to.equal(413)
        expect(body.error.message).to.include('more than 100000 keys, objects and lists')
      }
    expect(rig.upstream.requests.length).to.equal(before)
  })

  it('stands among as many members as the longest histories have', async function () {
    this.timeout(300_000)
    rig.upstream.answer({ body: chatAnswer })
    const call = { id: 'c', type: 'function', function: { name: 'edit', arguments: '{"path":"a.ts","text":"b"}' } }
    const turn = [
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: 'done\n' },
    ]
    const messages = [{ role: 'user', content: 'go' }, ...Array.from({ length: 5_000 }, () => turn).flat()]
    expect((await post('/v1/chat/completions', JSON.stringify({ model: 'chat', messages }))).status).to.equal(200)
    const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(60_000_000)}` } }
    const pictured = { model: 'chat', messages: [{ role: 'user', content: [picture] }] }
    expect((await post('/v1/chat/completions', JSON.stringify(pictured))).status).to.equal(200)
  })
})
