import { expect } from 'chai'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { startMock } from '../support/mock.ts'
import type { Mock } from '../support/mock.ts'
import { pixel } from './conversation.ts'

/** Bytes that are no text in any encoding, with what a form's reader could trip over. */
const recording = Buffer.concat([Buffer.from([0xff, 0xfe, 0, 13, 10, 45, 45]), Buffer.alloc(70_000, 0xa5)])
const speech = Buffer.from([0x49, 0x44, 0x33, 0, 255, 13, 10, 0])

describe('the openai client beyond conversations', () => {
  let mock: Mock
  let gateway: RunningGateway
  let client: OpenAI
  before(async () => {
    mock = await startMock()
    mock.mock
      .onEmbedding('one', { embedding: [0.5, -0.25, 1] })
      .onImage('a red square', { image: { b64Json: pixel } })
      .onSpeech('Good morning', { audio: speech.toString('base64'), format: 'mp3' })
      .onTranscription({ transcription: { text: 'Bonjour', usage: { type: 'duration', seconds: 2 } } })
      .onTranslation({ transcription: { text: 'Good morning' } })
    gateway = await startGateway({
      providers: [
        { name: 'vendor', type: 'native', base_url: mock.url, api_key: 'upstream-key' },
        { name: 'plain', type: 'compatible', base_url: mock.url },
        { name: 'echo', type: 'echo' },
      ],
      models: [
        ...['embed', 'image', 'speech', 'whisper'].map((name) => ({
          name,
          provider: 'vendor',
          upstream_model: `${name}-2026`,
          pricing: { input: 1, output: 2 },
        })),
        { name: 'chat-only', provider: 'plain' },
        { name: 'echo', provider: 'echo' },
      ],
    })
    client = openai(gateway)
  })
  after(async () => {
    await gateway.close()
    await mock.close()
  })

  /** The form that the provider got, and the name of its boundary. */
  const form = async () => {
    const { body, headers } = mock.asked.at(-1) as { body: Buffer; headers: Record<string, string> }
    return new Response(new Uint8Array(body), { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
  }
  const lastPath = () => mock.asked.at(-1)?.path

  it('embeds texts', async () => {
    const input = ['one', 'one more']
    const { data, model } = await client.embeddings.create({ model: 'embed', input, encoding_format: 'float' })
    expect(data.map(({ embedding }) => embedding)).to.deep.equal([
      [0.5, -0.25, 1],
      [0.5, -0.25, 1],
    ])
    expect(model).to.equal('embed-2026')
    expect(mock.lastBody()).to.deep.equal({ model: 'embed-2026', input, encoding_format: 'float' })
  })

  it('embeds texts without any provider, in the form the client asks for by itself', async () => {
    const first = await client.embeddings.create({ model: 'echo', input: ['one', 'two'] })
    const second = await client.embeddings.create({ model: 'echo', input: 'one', encoding_format: 'float' })
    expect(first.data).to.have.length(2)
    expect(first.data[0]?.embedding.length).to.equal(second.data[0]?.embedding.length)
    expect(first.data[0]?.embedding[0]).to.be.closeTo(second.data[0]?.embedding[0] as number, 1e-6)
  })

  it('makes images', async () => {
    const request = { model: 'image', prompt: 'a red square', n: 1, size: '1024x1024' } as const
    const { data } = await client.images.generate(request)
    expect(data?.[0]?.b64_json).to.equal(pixel)
    expect(mock.lastBody()).to.deep.equal({ ...request, model: 'image-2026' })
  })

  it('changes images: files, a mask and texts of a form', async () => {
    const image = await toFile(Buffer.from(pixel, 'base64'), 'été.png', { type: 'image/png' })
    const other = await toFile(recording, 'b.png', { type: 'image/png' })
    const { data } = await client.images.edit({
      model: 'image',
      prompt: 'a red square',
      image: [image, other],
      mask: image,
    })
    expect(data?.[0]?.b64_json).to.equal(pixel)
    expect(lastPath()).to.equal('/v1/images/edits')
    const got = await form()
    expect([...got.keys()].toSorted()).to.deep.equal(['image[]', 'image[]', 'mask', 'model', 'prompt'])
    expect(got.get('model')).to.equal('image-2026')
    expect(got.get('prompt')).to.equal('a red square')
    const [first, second] = got.getAll('image[]') as File[]
    expect(first?.name).to.equal('été.png')
    expect(Buffer.from(await (second as File).arrayBuffer()).equals(recording)).to.equal(true)
  })

  it('speaks', async () => {
    const response = await client.audio.speech.create({ model: 'speech', voice: 'alloy', input: 'Good morning' })
    expect(response.headers.get('content-type')).to.equal('audio/mpeg')
    expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(speech)
    expect(mock.lastBody()).to.deep.equal({ model: 'speech-2026', voice: 'alloy', input: 'Good morning' })
  })

  it('writes down a recording', async () => {
    const file = await toFile(recording, 'call.mp3', { type: 'audio/mpeg' })
    const { text } = await client.audio.transcriptions.create({ model: 'whisper', file, language: 'fr' })
    expect(text).to.equal('Bonjour')
    const got = await form()
    expect([got.get('model'), got.get('language')]).to.deep.equal(['whisper-2026', 'fr'])
    expect(Buffer.from(await (got.get('file') as File).arrayBuffer()).equals(recording)).to.equal(true)
  })

  it('writes down a recording while it is heard', async () => {
    const file = await toFile(recording, 'call.mp3', { type: 'audio/mpeg' })
    const events = await Array.fromAsync(
      await client.audio.transcriptions.create({ model: 'whisper', file, stream: true }),
    )
    expect(events.at(-1)).to.include({ type: 'transcript.text.done', text: 'Bonjour' })
    expect(
      events
        .slice(0, -1)
        .map((event) => 'delta' in event && event.delta)
        .join(''),
    ).to.equal('Bonjour')
  })

  it('translates a recording', async () => {
    const file = await toFile(recording, 'call.mp3', { type: 'audio/mpeg' })
    const { text } = await client.audio.translations.create({ model: 'whisper', file })
    expect(text).to.equal('Good morning')
    expect(lastPath()).to.equal('/v1/audio/translations')
  })

  it('hears at once what a provider does not serve', async () => {
    const before = mock.asked.length
    const file = () => toFile(recording, 'call.mp3', { type: 'audio/mpeg' })
    const model = 'chat-only'
    const attempts: (() => Promise<unknown>)[] = [
      () => client.embeddings.create({ model, input: 'one' }),
      () => client.images.generate({ model, prompt: 'one' }),
      () => client.audio.speech.create({ model, voice: 'alloy', input: 'one' }),
      async () => client.audio.transcriptions.create({ model, file: await file() }),
      async () => client.audio.translations.create({ model, file: await file() }),
      async () => client.audio.translations.create({ model: 'echo', file: await file() }),
    ]
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => expect.fail('it should have been refused'),
        (reason: unknown) => reason,
      )
      expect(error).to.include({
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_request_error',
        param: 'model',
      })
    }
    expect(mock.asked).to.have.length(before)
  })

  it('leaves a row of each with what it used', async () => {
    const rows = (await gateway.rows()).filter(({ status }) => status === 200)
    const types = rows.map(({ type, provider }) => `${type} ${provider}`)
    expect([...new Set(types)]).to.have.members([
      'embeddings vendor',
      'embeddings echo',
      'images vendor',
      'audio vendor',
    ])
    const embedding = rows.find(({ model }) => model === 'embed')
    expect(embedding).to.include({ input_tokens: 0, output_tokens: 0, cost_micros: 0, result: 'completed' })
    // The mock says nothing of usage here: unknown, never free.
    const image = rows.find(({ model }) => model === 'image')
    expect(image).to.include({ input_tokens: null, cost_micros: null, result: 'completed' })
    expect(JSON.parse(image?.metadata ?? '')).to.include({ usage: 'unknown', cost: 'unknown' })
  })
})
