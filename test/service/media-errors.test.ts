import { expect } from 'chai'
import OpenAI, { toFile } from 'openai'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { arrived } from './streams.ts'

const canary = 'canary-sk-51c0ffee9a'
const model = 'm'

const file = () => toFile(Buffer.from('bytes'), 'a.mp3')

type Asking = (client: OpenAI, signal?: AbortSignal) => Promise<unknown>
const askings: Record<string, Asking> = {
  embeddings: (client, signal) => client.embeddings.create({ model, input: 'x' }, { signal }),
  images: (client, signal) => client.images.generate({ model, prompt: 'x' }, { signal }),
  'image edits': async (client, signal) => client.images.edit({ model, prompt: 'x', image: await file() }, { signal }),
  speech: async (client, signal) => {
    const response = await client.audio.speech.create({ model, voice: 'alloy', input: 'x' }, { signal })
    return response.arrayBuffer()
  },
  transcriptions: async (client, signal) =>
    client.audio.transcriptions.create({ model, file: await file() }, { signal }),
  translations: async (client, signal) => client.audio.translations.create({ model, file: await file() }, { signal }),
}

const told = { error: { message: `No luck with ${canary}`, type: 'invalid_request_error', param: 'x', code: 'why' } }
const cases: readonly (readonly [name: string, script: Script, status: number, code: string | null])[] = [
  ['a 400', { status: 400, body: told }, 400, 'why'],
  ['a 401', { status: 401, body: told }, 502, 'upstream_refused_key'],
  ['a 404', { status: 404, body: told }, 404, 'why'],
  ['a 429', { status: 429, body: told, headers: { 'retry-after': '9' } }, 429, 'why'],
  ['a 500', { status: 500, body: told }, 502, 'upstream_error'],
  ['a page', { status: 500, body: `<html>${canary}</html>` }, 502, 'upstream_error'],
  ['an error with a good status', { body: { error: { ...told.error, code: 402 } } }, 402, '402'],
  ['a closed connection', { raw: '', ending: 'close' }, 502, 'upstream_error'],
]

describe('a provider that fails beyond conversations', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'native', base_url: upstream.url, api_key: canary }],
      models: [{ name: model, provider: 'vendor' }],
    })
  })
  after(async () => {
    expect(gateway.lines.join('') + JSON.stringify(await gateway.rows())).not.to.include(canary)
    await gateway.close()
    await upstream.close()
  })

  const lastRow = async () => (await gateway.rows()).at(-1)

  for (const [name, ask] of Object.entries(askings)) {
    describe(name, () => {
      for (const [cause, script, status, code] of cases)
        it(`after ${cause}: ${status}`, async () => {
          upstream.answer(script)
          const error = await caught(ask(openai(gateway)))
          expect(error).to.be.instanceOf(OpenAI.APIError)
          expect(error).to.include({ status, code })
          expect(String(error)).not.to.include(canary)
          expect(await lastRow()).to.include({ status, result: 'failed' })
        })

      it('is not waited for when the client has left', async () => {
        upstream.answer({ silent: true })
        const before = (await gateway.rows()).length
        const abort = new AbortController()
        const asking = caught(ask(openai(gateway), abort.signal))
        await upstream.received(upstream.requests.length + 1)
        abort.abort()
        expect(String(await asking)).to.match(/abort/i)
        await upstream.closed()
        await gateway.rows(before + 1)
        expect(await lastRow()).to.include({ result: 'client_closed', status: 499 })
      })
    })
  }

  it('a recording that breaks off is no whole recording', async () => {
    const before = (await gateway.rows()).length
    upstream.answer(() => ({
      ...arrived([{ data: 'bytes' }]),
      headers: { 'content-type': 'audio/mpeg' },
      ending: 'reset',
    }))
    const response = await gateway.post('/v1/audio/speech', { model, voice: 'alloy', input: 'x' })
    expect(response.status).to.equal(200)
    expect(response.headers.get('content-type')).to.equal('audio/mpeg')
    await caught(response.bytes())
    await gateway.rows(before + 1)
    expect(await lastRow()).to.include({ type: 'audio', status: 200, result: 'failed', error: 'upstream_error' })
  })

  it('a recording that nobody hears any more is not fetched', async () => {
    upstream.answer({ headers: { 'content-type': 'audio/mpeg' }, chunks: ['some'], ending: 'hang' })
    const before = (await gateway.rows()).length
    const abort = new AbortController()
    const response = await openai(gateway).audio.speech.create(
      { model, voice: 'alloy', input: 'x' },
      { signal: abort.signal },
    )
    await response.body?.getReader().read()
    abort.abort()
    await upstream.closed()
    await gateway.rows(before + 1)
    expect(await lastRow()).to.include({ result: 'client_closed', status: 200 })
  })
})

function caught(asking: Promise<unknown>): Promise<unknown> {
  return asking.then(
    () => expect.fail('it should have failed'),
    (error: unknown) => error,
  )
}
