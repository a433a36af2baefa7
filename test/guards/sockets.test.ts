import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { onEachDatabase } from '../admin/logs/rig.ts'
import { openSession } from '../service/responses-session.ts'
import type { Heard, Session } from '../service/responses-session.ts'
import { Rig, protocols, streamOf, wholeOf } from './rig.ts'

const guards = [
  { name: 'pii', kind: 'pii', action: 'mask', entities: ['email'], side: ['input', 'output', 'tool_calls'] },
  { name: 'list', kind: 'words', words: ['forbidden'], side: ['input', 'output', 'tool_calls'] },
  { name: 'own', kind: 'words', words: ['sugar'], default: false },
]

onEachDatabase((settings) => {
  const rig = new Rig(async () => ({
    ...(await settings()),
    records: { guards },
    models: [{ name: 'native', provider: 'responses' }],
  }))
  const deltas = (heard: readonly Heard[]) => heard.map(({ delta }) => delta ?? '').join('')

  describe('guards: responses over a socket', () => {
    let session: Session
    before(async () => {
      session = await openSession(rig.gateway)
    })
    after(async () => {
      session.socket.close(1000)
      await session.closed
    })

    it('a request that is denied is told as an error, reaches nobody, and the socket goes on', async () => {
      const before = rig.upstream.requests.length
      const [error, ...more] = await session.turn({ model: 'responses', input: 'forbidden' })
      expect([error?.type, error?.status, more.length]).to.deep.equal(['error', 400, 0])
      expect(error?.error).to.deep.include({ code: 'content_filter', message: 'The content was blocked.' })
      expect(rig.upstream.requests.length).to.equal(before)
      const row = await rig.gateway.row(({ guarded }) => guarded === 'denied')
      expect(row).to.include({ type: 'responses', status: 400 })
      expect(JSON.stringify(row)).not.to.contain('forbidden')
    })

    it('a body that repeats a member goes as it was judged', async () => {
      rig.upstream.answer({ frames: streamOf.responses({ text: ['Yes.'] }) })
      const body = '{"type":"response.create","model":"responses","input":"forbidden","input":"Hello"}'
      const heard = await session.turn(body)
      expect(heard.at(-1)?.type).to.equal('response.completed')
      expect(rig.asked()).to.contain('Hello').and.not.contain('forbidden')
    })

    for (const model of protocols) {
      it(`an answer of ${model} that is denied ends before the match, and is stored so`, async () => {
        const call = model === 'gemini' ? ['{"to":"forbidden"}'] : ['{"to":"for', 'bidden"}']
        for (const said of [{ text: ['It is for', 'bidden.'] }, { text: ['Well.'], call }]) {
          rig.upstream.answer({ frames: streamOf[model](said) })
          const heard = await session.turn({ model, input: 'Hi' })
          const last = heard.at(-1)
          expect(last?.type, JSON.stringify(last)).to.equal('response.incomplete')
          expect(last?.response).to.deep.include({ incomplete_details: { reason: 'content_filter' } })
          expect(JSON.stringify(heard)).not.to.match(/forbidden|"bidden/)
          const read = await fetch(`${rig.gateway.url}/v1/responses/${last?.response?.id}`, {
            headers: { authorization: `Bearer ${rig.gateway.key}` },
          })
          expect([read.status, (await read.text()).includes('bidden')]).to.deep.equal([200, false])
        }
      })

      it(`a request and an answer of ${model} are masked, cut over events`, async () => {
        rig.upstream.answer({ frames: streamOf[model]({ text: ['Mail bob@exa', 'mple.com now.'] }) })
        const heard = await session.turn({ model, input: 'I am ann@example.com.' })
        expect(rig.asked()).to.contain('I am [EMAIL].').and.not.contain('@example.com')
        expect(deltas(heard)).to.equal('Mail [EMAIL] now.')
        expect(JSON.stringify(heard)).not.to.contain('@example.com')
      })
    }

    it('guards are those that the socket has named', async () => {
      const other = await openSession(rig.gateway, { 'x-gateway-guards': 'own' })
      const before = rig.upstream.requests.length
      const [denied] = await other.turn({ model: 'responses', input: 'some sugar' })
      expect(denied?.error?.code).to.equal('content_filter')
      expect(rig.upstream.requests.length).to.equal(before)
      other.socket.close(1000)
      await other.closed
    })
  })

  describe('guards: conversations that are compacted', () => {
    const compact = async (model: string, input: readonly JsonObject[]) => {
      const response = await rig.gateway.post('/v1/responses/compact', { model, input })
      return { status: response.status, body: await response.text(), headers: response.headers }
    }
    const user = (content: string) => ({ role: 'user', content })

    it('are denied before anybody compacts them, here or elsewhere', async () => {
      for (const model of ['native', 'chat']) {
        const before = rig.upstream.requests.length
        const denied = await compact(model, [user('Hi'), user('It is forbidden')])
        expect(denied.status, denied.body).to.equal(400)
        expect(denied.headers.get('x-gateway-guards')).to.contain('list=denied')
        expect(JSON.parse(denied.body)).to.have.nested.include({
          'error.code': 'content_filter',
          'error.param': 'input[1].content',
        })
        expect(rig.upstream.requests.length).to.equal(before)
      }
    })

    it('are masked for the provider that compacts them, and in what is packed here', async () => {
      const output = [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA-of-the-vendor' }]
      const { usage } = wholeOf.responses({ text: ['Yes.'] })
      const body = { id: 'r', object: 'response.compaction', created_at: 1, output, ...(usage ? { usage } : {}) }
      rig.upstream.answer({ body })
      const there = await compact('native', [user('I am ann@example.com.')])
      expect(there.status, there.body).to.equal(200)
      expect(rig.asked()).to.contain('I am [EMAIL].').and.not.contain('@example.com')
      const here = await compact('chat', [user('I am ann@example.com.')])
      expect(here.body).to.contain('I am [EMAIL].').and.not.contain('@example.com')
      const packed = (JSON.parse(here.body) as { output: readonly JsonObject[] }).output
      rig.upstream.answer({ body: wholeOf.chat({ text: ['Yes.'] }) })
      const next = await rig.gateway.post('/v1/responses', { model: 'chat', input: [...packed, user('Who am I?')] })
      expect(next.status, await next.text()).to.equal(200)
      expect(rig.asked()).to.contain('I am [EMAIL].').and.not.contain('@example.com')
    })
  })
})
