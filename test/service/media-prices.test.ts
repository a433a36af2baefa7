import { expect } from 'chai'
import { toFile } from 'openai'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { Script, ScriptedUpstream } from '../support/upstream.ts'
import { responsesAnswer } from './streams.ts'

/** A picture that is too large to be kept whole until its stream has ended. */
const picture = 'A'.repeat(600_000)
const audio: Script = { headers: { 'content-type': 'audio/mpeg' }, body: Buffer.from([1, 2, 3]) }
const file = () => toFile(Buffer.from('a recording'), 'call.mp3', { type: 'audio/mpeg' })

describe('what is not paid for in tokens', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    const model = (name: string, pricing: object) => ({ name, provider: 'vendor', pricing })
    gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'upstream-key' }],
      models: [
        model('painter', { images: 0.04 }),
        model('speaker', { characters: 15 }),
        model('listener', { seconds: 0.0001 }),
        model('artist', { input: 2, output_image: 30 }),
        model('tokens', { input: 1, output: 10, seconds: 1 }),
      ],
      // Requests with web searches are translated, and so are their answers.
      server_config: { web_search: { context_size: 'low' } },
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const last = async () => {
    const row = (await gateway.rows()).at(-1)
    const { units, usage, cost } = JSON.parse(row?.metadata ?? '{}') as Record<string, unknown>
    return { micros: row?.cost_micros, tokens: row?.input_tokens, units, usage, cost }
  }

  it('is paid for by the picture, of an answer and of a stream', async () => {
    upstream.answer({ body: { created: 1, data: [{ b64_json: 'AA==' }, { b64_json: 'AA==' }] } })
    const request = { model: 'painter', prompt: 'a cat' } as const
    await openai(gateway).images.generate({ ...request, n: 2 })
    const two = { micros: 80_000, tokens: null, units: { images: 2 }, usage: 'unknown', cost: undefined }
    expect(await last()).to.deep.equal(two)
    const completed = { type: 'image_generation.completed', b64_json: picture }
    upstream.answer({ frames: [{ data: completed }] })
    const stream = await openai(gateway).images.generate({ ...request, stream: true })
    for await (const event of stream) expect(event.type).to.equal('image_generation.completed')
    expect(await last()).to.deep.equal({ ...two, micros: 40_000, units: { images: 1 } })
  })

  it('has an unknown cost where the client left before its picture came', async () => {
    const before = (await gateway.rows()).length
    const partial = { type: 'image_generation.partial_image', b64_json: 'AA==', partial_image_index: 0 }
    upstream.answer({ frames: [{ data: partial }], ending: 'hang' })
    const stream = await openai(gateway).images.generate({ model: 'painter', prompt: 'a cat', stream: true })
    for await (const event of stream) {
      expect(event.type).to.equal('image_generation.partial_image')
      break
    }
    await upstream.closed()
    await gateway.rows(before + 1)
    expect(await last()).to.deep.include({ micros: null, units: undefined, cost: 'unknown' })
  })

  it('is paid for by the character that is spoken', async () => {
    upstream.answer(audio)
    await openai(gateway).audio.speech.create({ model: 'speaker', voice: 'alloy', input: 'Grüße 👋' })
    expect(await last()).to.deep.include({ micros: 105, units: { characters: 7 } })
  })

  it('is paid for by the second that is listened to, of an answer and of a stream', async () => {
    const usage = { type: 'duration', seconds: 9 }
    upstream.answer({ body: { text: 'Hello', usage } })
    await openai(gateway).audio.transcriptions.create({ model: 'listener', file: await file() })
    expect(await last()).to.deep.include({ micros: 900, units: { seconds: 9 } })
    upstream.answer({ frames: [{ data: { type: 'transcript.text.done', text: 'Hello', usage } }] })
    const stream = await openai(gateway).audio.transcriptions.create({
      model: 'listener',
      file: await file(),
      stream: true,
    })
    for await (const event of stream) expect(event.type).to.equal('transcript.text.done')
    expect(await last()).to.deep.include({ micros: 900, units: { seconds: 9 } })
    upstream.answer({ body: { text: 'Hello', language: 'en', duration: 8.47, segments: [] } })
    await openai(gateway).audio.translations.create({ model: 'listener', file: await file() })
    expect(await last()).to.deep.include({ micros: 847, units: { seconds: 8.47 } })
  })

  it('is paid for at the prices of the model that drew it in a conversation, and unknown where that has none', async () => {
    const image_gen = { input_tokens: 10, input_tokens_details: {}, output_tokens: 1000, total_tokens: 1010 }
    const drawing = (model: string) => ({
      ...responsesAnswer,
      tools: [{ type: 'image_generation', model }],
      tool_usage: { image_gen, web_search: { num_requests: 0 } },
    })
    const drew = (model: string): Script => ({ body: drawing(model) })
    const request = { model: 'tokens', input: 'Draw a cat.', store: false } as const
    const { input_tokens: read, output_tokens: said } = responsesAnswer.usage
    const ask = () => openai(gateway).responses.create(request)
    upstream.answer(drew('artist'))
    await ask()
    expect(await last()).to.deep.include({ micros: read + said * 10 + 10 * 2 + 1000 * 30, tokens: read })
    const searching = { ...request, tools: [{ type: 'web_search' as const }] }
    const both = { micros: read + said * 10 + 10 * 2 + 1000 * 30, tokens: read }
    upstream.answer(drew('artist'))
    await openai(gateway).responses.create(searching)
    expect(await last(), 'translated').to.deep.include(both)
    const end = { type: 'response.completed', sequence_number: 0, response: drawing('artist') }
    upstream.answer({ frames: [{ event: end.type, data: end }] })
    for await (const event of await openai(gateway).responses.create({ ...searching, stream: true }))
      expect(event.type).to.be.a('string')
    expect(await last(), 'translated stream').to.deep.include(both)
    upstream.answer(drew('unheard-of'))
    await ask()
    expect(await last()).to.deep.include({ micros: null, tokens: read, cost: 'unknown' })
  })

  it('is paid for in tokens where the provider counts them and they have prices', async () => {
    const usage = { type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 }
    upstream.answer({ body: { text: 'Hello', usage } })
    await openai(gateway).audio.transcriptions.create({ model: 'tokens', file: await file() })
    expect(await last()).to.deep.equal({ micros: 464, tokens: 14, units: undefined, usage: undefined, cost: undefined })
  })
})
