import { expect } from 'chai'
import fc from 'fast-check'
import type { JsonObject } from '../../../engine/index.ts'
import { Recording } from '../../../plugins/request-log/recording.ts'
import { scriptedUpstream } from '../../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../../support/upstream.ts'
import { says } from '../../service/background.ts'
import {
  chatAnswer,
  chatFrames,
  messagesAnswer,
  messagesFrames,
  responsesAnswer,
  responsesFrames,
} from '../../service/streams.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'
import { onEachDatabase, startLogs } from './rig.ts'
import type { LogsGateway } from './rig.ts'

const canary = 'Pk9sJ4bN1gVc6XtQ3rEaW8uY'
const messages = [{ role: 'user', content: 'hello' }]

interface Kind {
  readonly path: string
  readonly body: object
  readonly whole: Script
  readonly frames: Script
  readonly last: string
}

const kinds: Readonly<Record<string, Kind>> = {
  chat: {
    path: '/v1/chat/completions',
    body: { model: 'chat', messages },
    whole: { body: chatAnswer },
    frames: { frames: chatFrames('Hello', ' there') },
    last: '[DONE]',
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'messages', messages, max_tokens: 10 },
    whole: { body: messagesAnswer },
    frames: { frames: messagesFrames('Hello', ' there') },
    last: 'message_stop',
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'responses', input: 'hello' },
    whole: { body: responsesAnswer },
    frames: { frames: responsesFrames('Hello', ' there') },
    last: 'response.completed',
  },
}

describe('captured bodies', () => {
  onEachDatabase((settings) => {
    let upstream: ScriptedUpstream
    let gateway: LogsGateway
    before(async () => {
      upstream = await scriptedUpstream()
      const at = { base_url: upstream.url, api_key: canary }
      gateway = await startLogs({
        ...(await settings()),
        providers: [
          { name: 'family', type: 'compatible', ...at },
          { name: 'other', type: 'messages', ...at },
          { name: 'vendor', type: 'native', ...at },
        ],
        records: {
          guards: [
            { name: 'pii', kind: 'pii', action: 'mask', mask: 'token', entities: ['email'], default: false },
            { name: 'tone', kind: 'words', action: 'retry', words: ['bad'], side: ['output'], default: false },
          ],
        },
        models: [
          { name: 'chat', provider: 'family' },
          { name: 'messages', provider: 'other' },
          { name: 'responses', provider: 'vendor', protocols: ['responses'] },
          { name: 'whisper', provider: 'vendor', protocols: ['transcriptions'] },
          { name: 'speech', provider: 'vendor', protocols: ['speech'] },
        ],
      })
    })
    after(async () => {
      await gateway.close()
      await upstream.close()
    })

    const set = async (values: JsonObject) => {
      await gateway.engine.live.changeAll(() => [{ kind: 'change', type: 'section', name: 'logging', patch: values }])
    }
    const captureOf = async (response: Response): Promise<JsonObject | null> => {
      await response.arrayBuffer()
      const id = response.headers.get('x-request-id') ?? ''
      let answer: JsonObject = {}
      await until(async () => {
        await gateway.engine.flush()
        const found = await gateway.asAdmin(`GET /api/logs/${id}`)
        answer = found.body
        return found.status === 200
      })
      return answer['capture'] as JsonObject | null
    }
    const asked = async (path: string, body: object) => captureOf(await gateway.post(path, body))

    it('are off unless somebody wants them', async () => {
      upstream.answer({ body: chatAnswer })
      expect(await asked('/v1/chat/completions', kinds['chat']?.body ?? {})).to.equal(null)
    })

    for (const [name, { path, body, whole, frames, last }] of Object.entries(kinds)) {
      it(`are what was asked and answered: ${name}, whole`, async () => {
        await set({ capture: 'all' })
        upstream.answer(whole)
        const response = await gateway.post(path, body)
        const text = await response.clone().text()
        expect(await captureOf(response)).to.deep.equal({
          request: JSON.stringify(body),
          response: text,
          truncated: false,
        })
      })

      it(`are what was asked and answered: ${name}, streamed`, async () => {
        await set({ capture: 'all' })
        upstream.answer(frames)
        const streamed = { ...body, stream: true }
        const response = await gateway.post(path, streamed)
        const text = await response.clone().text()
        expect(text).to.include(last)
        expect(await captureOf(response)).to.deep.equal({
          request: JSON.stringify(streamed),
          response: text,
          truncated: false,
        })
      })
    }

    for (const [name, { path }] of Object.entries(kinds))
      it(`have the token of a mask, not what it stands for: ${name}`, async () => {
        await set({ capture: 'all' })
        const text = 'I am ann@example.com.'
        const asked = name === 'responses' ? { input: text } : { messages: [{ role: 'user', content: text }] }
        upstream.answer(says('chat', 'To <EMAIL_1>'), { frames: chatFrames('To <EM', 'AIL_1>') })
        for (const stream of [false, true]) {
          const most = name === 'responses' ? {} : { max_tokens: 10 }
          const body = { model: 'chat', stream, ...most, ...asked }
          const response = await gateway.post(path, body, { 'x-gateway-guards': 'pii' })
          expect(await response.clone().text()).to.contain('ann@example.com')
          const capture = (await captureOf(response)) ?? {}
          expect(capture['request']).to.contain('I am <EMAIL_1>.').and.not.contain('@example.com')
          expect(capture['response']).to.contain('AIL_1>').and.not.contain('@example.com')
          if (stream) expect(capture['response']).to.contain(kinds[name]?.last)
          expect(capture['truncated']).to.equal(false)
        }
      })

    it('have all of an answer whose beginning was judged before the reply', async () => {
      await set({ capture: 'all' })
      upstream.answer({ frames: chatFrames('So bad') }, { frames: chatFrames('To <EM', 'AIL_1>') })
      const asked = [{ role: 'user', content: 'I am ann@example.com.' }]
      const body = { model: 'chat', stream: true, messages: asked }
      const response = await gateway.post('/v1/chat/completions', body, { 'x-gateway-guards': 'pii, tone' })
      expect(await response.clone().text()).to.contain('ann@example.com')
      const captured = (await captureOf(response))?.['response'] as string
      expect(captured).to.contain('AIL_1>').and.contain('[DONE]')
      expect(captured).not.to.match(/@example.com|So bad/)
      expect(captured.match(/"role":"assistant"/g), captured).to.have.length(1)
    })

    it('are those of failed requests alone, if so set', async () => {
      await set({ capture: 'errors' })
      upstream.answer({ body: chatAnswer })
      expect(await asked('/v1/chat/completions', { model: 'chat', messages })).to.equal(null)
      const capture = await asked('/v1/chat/completions', { model: 'missing', messages })
      expect(capture?.['request']).to.equal(JSON.stringify({ model: 'missing', messages }))
      expect(capture?.['response']).to.include('"code":"model_not_found"')
    })

    it('are cut where they are too long', async () => {
      await set({ capture: 'all', capture_max_bytes: 1024 })
      upstream.answer({ body: chatAnswer })
      const content = 'ä '.repeat(2_000)
      const capture = await asked('/v1/chat/completions', { model: 'chat', messages: [{ role: 'user', content }] })
      const request = capture?.['request'] as string
      expect(capture?.['truncated']).to.equal(true)
      expect(Buffer.byteLength(request)).to.be.within(1022, 1024)
      expect(request).to.match(/ä ?$/)
      await set({ capture_max_bytes: null })
    })

    it('have no secret, and are not readable in the database', async () => {
      await set({ capture: 'all' })
      const content = `${canary} and Bearer abcdefgh12345678 and {"password":"swordfish123"}`
      upstream.answer({
        body: {
          ...chatAnswer,
          choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        },
      })
      const capture = await asked('/v1/chat/completions', { model: 'chat', messages: [{ role: 'user', content }] })
      for (const side of ['request', 'response']) {
        expect(capture?.[side]).to.include('[redacted]')
        for (let at = 0; at + 12 <= canary.length; at++)
          expect(capture?.[side]).not.to.include(canary.slice(at, at + 12))
        expect(capture?.[side]).not.to.include('swordfish').and.not.to.include('abcdefgh12345678')
      }
      const stored = await tablesOf(gateway.engine.database).selectFrom('requests_captures').selectAll().execute()
      expect(stored.length).to.be.above(0)
      for (const { sealed } of stored) expect(Buffer.from(sealed, 'base64').toString('latin1')).not.to.include('user')
    })

    it('have the size of binary content in place of it', async () => {
      await set({ capture: 'all' })
      upstream.answer({ body: chatAnswer })
      const data = Buffer.alloc(300_000, 7).toString('base64')
      const content = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }]
      const capture = await asked('/v1/chat/completions', { model: 'chat', messages: [{ role: 'user', content }] })
      expect(capture?.['request']).to.include('data:image/png;base64,[300000 bytes]"').and.to.have.length.below(300)
      expect(capture?.['truncated']).to.equal(false)
    })

    it('have a long run of one character as it is', async () => {
      await set({ capture: 'all' })
      upstream.answer({ body: chatAnswer })
      const content = `${'-'.repeat(3_000)} no${'o'.repeat(600)}`
      const capture = await asked('/v1/chat/completions', { model: 'chat', messages: [{ role: 'user', content }] })
      expect(capture?.['request']).to.include('-'.repeat(3_000))
    })

    it('are sizes where an answer is no text', async () => {
      await set({ capture: 'all' })
      upstream.answer({ headers: { 'content-type': 'audio/mpeg' }, body: Buffer.alloc(5_000, 1) })
      const body = { model: 'speech', input: 'hello', voice: 'alloy' }
      expect(await asked('/v1/audio/speech', body)).to.deep.equal({
        request: JSON.stringify(body),
        response: '[5000 bytes of audio/mpeg]',
        truncated: false,
      })
      upstream.answer({ body: { text: 'Hello' } })
      const form = new FormData()
      form.set('model', 'whisper')
      form.set('file', new File([Buffer.alloc(3_000, 2)], 'a.mp3'))
      const response = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: form,
      })
      const capture = await captureOf(response)
      expect(capture?.['request']).to.match(/^\{"model":"whisper".*\[3\d\d\d bytes of multipart\/form-data\]"\}$/)
      expect(capture?.['response']).to.equal('{"text":"Hello"}')
    })

    it('show viewers those of own keys', async () => {
      await set({ capture: 'all' })
      upstream.answer({ body: chatAnswer })
      const response = await gateway.post(
        '/v1/chat/completions',
        { model: 'chat', messages },
        {
          authorization: `Bearer ${gateway.own.text}`,
        },
      )
      const capture = await captureOf(response)
      const id = response.headers.get('x-request-id')
      expect((await gateway.asViewer(`GET /api/logs/${id}`)).body['capture']).to.deep.equal(capture)
      // The next owner of the key sees that it was used, but not for what.
      const next = await gateway.addMember()
      const { status } = await gateway.asAdmin(`PATCH /api/api-keys/${gateway.own.id}`, { owner: next.id })
      expect(status).to.equal(200)
      const shown = await next.ask(`GET /api/logs/${id}`)
      expect([shown.status, shown.body['capture']]).to.deep.equal([200, null])
      expect((await gateway.asAdmin(`GET /api/logs/${id}`)).body['capture']).to.deep.equal(capture)
      await gateway.asAdmin(`PATCH /api/api-keys/${gateway.own.id}`, { owner: gateway.viewer.id })
    })

    it('are never those of the admin API', async () => {
      await set({ capture: 'all' })
      const count = async () =>
        (await tablesOf(gateway.engine.database).selectFrom('requests_captures').selectAll().execute()).length
      await gateway.engine.flush()
      const before = await count()
      await gateway.asAdmin('GET /api/logs')
      await gateway.asNobody('POST /api/auth/login', { username: 'admin', password: 'wrong password of ours' })
      await gateway.engine.flush()
      expect(await count()).to.equal(before)
    })
  })

  it('collapse binary content however it is cut into chunks', () =>
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string({ unit: 'binary', maxLength: 50 }),
            fc.integer({ min: 600, max: 3_000 }).map((size) => `"${Buffer.alloc(size, 5).toString('base64')}"`),
            fc.integer({ min: 1, max: 2_000 }).map((size) => '-'.repeat(size)),
          ),
          { maxLength: 6 },
        ),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1 }),
        (texts, sizes) => {
          const bytes = Buffer.from(texts.join(' | '))
          const recorded = (chunks: readonly Uint8Array[]) => {
            const recording = new Recording(1_000_000)
            for (const chunk of chunks) recording.push(chunk)
            return recording.end().replaceAll(/\](={1,2})/g, ']')
          }
          const chunks: Uint8Array[] = []
          for (let at = 0, index = 0; at < bytes.length; index++) {
            const size = sizes[index % sizes.length] as number
            chunks.push(bytes.subarray(at, at + size))
            at += size
          }
          expect(recorded(chunks)).to.equal(recorded([bytes]))
          expect(recorded([bytes])).not.to.match(/[A-Za-z0-9+/_]{512}/)
        },
      ),
    ))
})
