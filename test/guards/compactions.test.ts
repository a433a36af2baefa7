import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { apiKey as key, leaks } from './corpus.ts'
import { Rig } from './rig.ts'

const base = { kind: 'secrets', entities: ['api_key'], default: false, side: ['output'] }
/** Nobody listens there. */
const away = { kind: 'webhook', url: 'http://127.0.0.1:1/', default: false, side: ['output'] }
const guards = [
  { ...base, name: 'mask', action: 'mask' },
  { ...base, name: 'deny', action: 'deny' },
  { ...base, name: 'shadow', action: 'deny', shadow: true },
  { ...away, name: 'away' },
  { ...away, name: 'away-open', on_error: 'open' },
  { ...base, name: 'tokens', action: 'mask', mask: 'token', side: ['input'] },
]
const usage = { input_tokens: 9, output_tokens: 4, total_tokens: 13 }
const spoken = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })

describe('guards: conversations that a provider has compacted', () => {
  const rig = new Rig(() => ({
    models: [{ name: 'vendor', provider: 'responses', pricing: { input: 1, output: 2 } }],
    records: { guards },
  }))
  const compact = async (guard: string, output: readonly JsonObject[], { input = 'Hi', status = 200 } = {}) => {
    rig.upstream.answer({ body: { id: 'r', object: 'response.compaction', created_at: 1, output, usage } })
    const asked = { model: 'vendor', input: [spoken('user', input)] }
    const answer = await rig.gateway.post('/v1/responses/compact', asked, { 'x-gateway-guards': guard })
    const text = await answer.text()
    expect(answer.status, text).to.equal(status)
    return { text, headers: answer.headers }
  }
  const told = [
    spoken('user', 'Hi'),
    { type: 'compaction', id: 'c', summary: `It is ${key}.`, encrypted_content: 'opaque' },
  ]

  it('are masked where they can be read', async () => {
    const { text, headers } = await compact('mask', told)
    expect(leaks(key, text), text).to.equal(false)
    expect(text).to.contain('It is [API_KEY].').and.to.contain('opaque')
    expect(headers.get('x-gateway-guards')).to.equal('mask=masked')
    expect((await compact('mask', [spoken('assistant', key)])).text).not.to.contain(key)
  })

  it('are compacted by the gateway where they are denied, and what they used is billed', async () => {
    const { text, headers } = await compact('deny', told)
    expect(leaks(key, text), text).to.equal(false)
    expect(text).to.contain('"encrypted_content":"gw1c.')
    expect(headers.get('x-gateway-guards')).to.equal('deny=denied')
    const row = await rig.rowOf({ headers })
    expect([row.input_tokens, row.output_tokens, row.guarded]).to.deep.equal([9, 4, 'denied'])
  })

  it('are none where a guard could not judge them, and billed, unless it is open', async () => {
    const closed = await compact('away', told, { status: 503 })
    expect(closed.text).to.contain('guard_unavailable').and.not.contain(key)
    expect(closed.headers.get('x-gateway-guards')).to.equal('away=error')
    expect(await rig.rowOf(closed)).to.include({ input_tokens: 9, output_tokens: 4 })
    const open = await compact('away-open', told)
    expect(open.text).to.contain(key)
    expect(open.headers.get('x-gateway-guards')).to.equal('away-open=error')
  })

  it('hold what the client has sent itself', async () => {
    const { text } = await compact('deny', [spoken('user', `Mine is ${key}.`)], { input: `Mine is ${key}.` })
    expect(text).to.contain(`Mine is ${key}.`)
  })

  it('are judged in shadow', async () => {
    const { text, headers } = await compact('shadow', told)
    expect(text).to.contain(key)
    const [verdict] = await rig.verdictsOf({ headers })
    expect(verdict).to.include({ outcome: 'denied', shadow: true })
  })

  it('give the client back what tokens stand for', async () => {
    const { text } = await compact('tokens', [spoken('user', 'Mine is <API_KEY_1>.')], { input: `Mine is ${key}.` })
    expect(rig.asked()).to.contain('<API_KEY_1>').and.not.to.contain(key)
    expect(text).to.contain(`Mine is ${key}.`)
  })
})
