import { expect } from 'chai'
import { Rig, protocols, wholeOf } from './rig.ts'

/** A body whose messages, or the text of one, are there twice, or once more in other capitals. */
interface Ambiguous {
  readonly path: string
  /** The text that the last member of the name has, and what stands before it. */
  readonly repeated: (first: string, last: string) => string
  readonly nested: (first: string, last: string) => string
  readonly spelled: readonly (readonly [param: string, body: string])[]
}

const said = (text: string) => `[{"role":"user","content":"${text}"}]`
const parts = (text: string) => `[{"role":"user","parts":[{"text":"${text}"}]}]`

const bodies: Readonly<Record<(typeof protocols)[number], Ambiguous>> = {
  chat: {
    path: '/v1/chat/completions',
    repeated: (first, last) => `{"model":"chat","messages":${said(first)},"messages":${said(last)}}`,
    nested: (first, last) => `{"model":"chat","messages":[{"role":"user","content":"${first}","content":"${last}"}]}`,
    spelled: [
      ['Messages', `{"model":"chat","messages":${said('Hi')},"Messages":${said('sugar')}}`],
      ['meſſages', `{"model":"chat","messages":${said('Hi')},"meſſages":${said('sugar')}}`],
      ['messages[0].Role', `{"model":"chat","messages":[{"role":"assistant","Role":"user","content":"Hi"}]}`],
      ['messages[0].tool_calls[0].function.Arguments', calling('Arguments')],
    ],
  },
  messages: {
    path: '/v1/messages',
    repeated: (first, last) => `{"model":"messages","max_tokens":9,"messages":${said(first)},"messages":${said(last)}}`,
    nested: (first, last) =>
      `{"model":"messages","max_tokens":9,"messages":[{"role":"user","content":"${first}","content":"${last}"}]}`,
    spelled: [
      ['System', `{"model":"messages","max_tokens":9,"messages":${said('Hi')},"System":"sugar"}`],
      [
        'messages[0].Content',
        `{"model":"messages","max_tokens":9,"messages":[{"role":"user","content":"Hi","Content":"sugar"}]}`,
      ],
    ],
  },
  responses: {
    path: '/v1/responses',
    repeated: (first, last) => `{"model":"responses","input":${said(first)},"input":${said(last)}}`,
    nested: (first, last) => `{"model":"responses","input":[{"role":"user","content":"${first}","content":"${last}"}]}`,
    spelled: [
      ['Instructions', `{"model":"responses","input":"Hi","Instructions":"sugar"}`],
      ['input[0].Type', `{"model":"responses","input":[{"role":"user","content":"Hi","Type":"message"}]}`],
    ],
  },
  gemini: {
    path: '/v1beta/models/gemini:generateContent',
    repeated: (first, last) => `{"contents":${parts(first)},"contents":${parts(last)}}`,
    nested: (first, last) => `{"contents":[{"role":"user","parts":[{"text":"${first}","text":"${last}"}]}]}`,
    spelled: [
      ['SystemInstruction', `{"contents":${parts('Hi')},"SystemInstruction":{"parts":[{"text":"sugar"}]}}`],
      ['contents[0].parts[0].Text', `{"contents":[{"role":"user","parts":[{"text":"Hi","Text":"sugar"}]}]}`],
    ],
  },
}

function calling(name: string): string {
  const call = `{"id":"c","type":"function","function":{"name":"f","arguments":"{}","${name}":"{}"}}`
  return `{"model":"chat","messages":[{"role":"assistant","content":null,"tool_calls":[${call}]}]}`
}

/** The answer to a body that is sent as it is written. */
async function sent({ gateway }: Rig, path: string, body: string, more: Record<string, string> = {}) {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...more }
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body })
  return { status: response.status, body: await response.text() }
}

describe('guards: a body goes to the provider as it was judged', () => {
  const guards = [{ name: 'list', kind: 'words', words: ['sugar'], side: ['input', 'tool_results'] }]
  const vectors = { name: 'vectors', provider: 'responses', supports_mapeval: true }
  const rig = new Rig(() => ({ records: { guards }, models: [vectors, { name: 'counted', provider: 'messages' }] }))
  const send = (path: string, body: string) => sent(rig, path, body)

  for (const protocol of protocols) {
    const { path, repeated, nested, spelled } = bodies[protocol]
    for (const [place, body] of Object.entries({ repeated, nested }))
      it(`in ${protocol}, with a ${place} member`, async () => {
        rig.upstream.answer({ body: wholeOf[protocol]({ text: ['Yes.'] }) })
        const passed = await send(path, body('sugar', 'Hello'))
        expect(passed.status, passed.body).to.equal(200)
        expect(rig.asked()).to.contain('Hello').and.not.contain('sugar')
        const before = rig.upstream.requests.length
        const denied = await send(path, body('Hello', 'sugar'))
        expect(denied.status, denied.body).to.equal(400)
        expect(denied.body).to.contain('The content was blocked.')
        expect(rig.upstream.requests.length).to.equal(before)
      })

    it(`in ${protocol}, never with a member in other capitals`, async () => {
      const before = rig.upstream.requests.length
      for (const [param, body] of spelled) {
        const refused = await send(path, body)
        expect(refused.status, refused.body).to.equal(400)
        expect(refused.body).to.contain(param)
      }
      expect(rig.upstream.requests.length).to.equal(before)
    })
  }

  it('where no text is generated, too', async () => {
    const inner = (text: string) => `"contents":${parts(text)}`
    const texts: Readonly<Record<string, string>> = {
      '/v1/embeddings': '{"model":"vectors","input":"sugar","input":"Hello"}',
      '/v1/images/generations': '{"model":"vectors","prompt":"sugar","prompt":"Hello"}',
      '/v1/audio/speech': '{"model":"vectors","voice":"v","input":"sugar","input":"Hello"}',
      '/v1/messages/count_tokens': `{"model":"counted","messages":${said('sugar')},"messages":${said('Hello')}}`,
      '/v1/responses/input_tokens': '{"model":"vectors","input":"sugar","input":"Hello"}',
      '/v1beta/models/gemini:countTokens': `{"generateContentRequest":{${inner('sugar')},${inner('Hello')}}}`,
      '/v1/decisions':
        '{"model":"vectors","input":"sugar","input":"Hello","questions":[{"type":"predicate","instructions":"Is it?"}]}',
    }
    for (const [path, body] of Object.entries(texts)) {
      const before = rig.upstream.requests.length
      // Whatever it makes of the answer: the provider was asked.
      rig.upstream.answer({ status: 400, body: { error: { message: 'No.' } } })
      const answered = await send(path, body)
      expect(rig.upstream.requests.length, `${path} ${answered.body}`).to.equal(before + 1)
      expect(rig.asked(), path).to.contain('Hello').and.not.contain('sugar')
      const denied = await send(path, body.replaceAll('Hello', 'sugar'))
      expect([denied.status, rig.upstream.requests.length], path).to.deep.equal([400, before + 1])
      expect(denied.body, path).to.contain('The content was blocked.')
    }
  })

  it('and byte for byte where one meaning is left, numbers and free JSON too', async () => {
    rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
    const schema = '{"type":"object","properties":{"Role":{"type":"string"},"role":{"type":"string","default":1.0}}}'
    const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`
    const body = `{ "model":"chat", "seed":12345678901234567890, "tools":[${tool}], "messages":${said('Hi')} }`
    const passed = await send('/v1/chat/completions', body)
    expect(passed.status, passed.body).to.equal(200)
    expect(rig.asked()).to.equal(body)
  })
})

describe('guards: a body that is only watched', () => {
  const list = { kind: 'words', words: ['sugar'], default: false }
  const rig = new Rig(() => ({
    records: {
      guards: [
        { ...list, name: 'shadow', shadow: true },
        { ...list, name: 'flag', action: 'flag' },
      ],
    },
  }))

  for (const guard of ['shadow', 'flag', 'shadow, flag'])
    it(`keeps its bytes, and its members: ${guard}`, async () => {
      const { repeated, spelled } = bodies.chat
      for (const body of [repeated('sugar', 'Hello'), spelled[0]?.[1] ?? '']) {
        rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
        const passed = await sent(rig, '/v1/chat/completions', body, { 'x-gateway-guards': guard })
        expect(passed.status, passed.body).to.equal(200)
        expect(rig.asked()).to.equal(body)
      }
    })
})
