import { expect } from 'chai'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { arrived } from './streams.ts'

const model = 'm'
const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7 }
const sound = () => toFile(Buffer.from('some sound'), 'call.mp3', { type: 'audio/mpeg' })
const event = <T extends { readonly type: string }>(data: T) => ({ event: data.type, data })

describe('the openai client, call by call beyond conversations', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  let client: OpenAI
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'upstream-key' }],
      models: [{ name: model, provider: 'vendor', upstream_model: 'm-2026' }],
    })
    client = openai(gateway)
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const sentJson = () => JSON.parse(upstream.requests.at(-1)?.body.toString() ?? '') as object
  const sentForm = async () => {
    const { body, headers } = upstream.requests.at(-1) as ScriptedUpstream['requests'][number]
    const type = headers['content-type'] ?? ''
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData()
    return [...form].map(([name, value]) => `${name}: ${typeof value === 'string' ? value : value.name}`)
  }

  it('embeds in base64 by itself, and takes what comes: base64 or numbers', async () => {
    const vector = [0.5, -0.25, 1]
    const base64 = Buffer.from(Float32Array.from(vector).buffer).toString('base64')
    for (const embedding of [base64, vector]) {
      const body = {
        object: 'list',
        model: 'm-2026',
        data: [{ object: 'embedding', index: 0, embedding }],
        usage: { prompt_tokens: 2, total_tokens: 2 },
      }
      upstream.answer({ body })
      const { data } = await client.embeddings.create({ model, input: 'one' })
      expect(data[0]?.embedding).to.deep.equal(vector)
      expect(sentJson()).to.deep.equal({ model: 'm-2026', input: 'one', encoding_format: 'base64' })
    }
    for (const input of [
      ['one', 'two'],
      [1, 2, 3],
      [[1, 2], [3]],
    ]) {
      await client.embeddings.create({ model, input, dimensions: 3, user: 'u', encoding_format: 'float' })
      expect(sentJson()).to.deep.equal({ model: 'm-2026', input, dimensions: 3, user: 'u', encoding_format: 'float' })
    }
  })

  it('passes on an answer of 33 MB of vectors byte for byte', async () => {
    const embedding = 'A'.repeat(16_384)
    const data = Array.from({ length: 2_048 }, (_, index) => ({ object: 'embedding', index, embedding }))
    const text = JSON.stringify({ object: 'list', model: 'm-2026', data, usage: { prompt_tokens: 2, total_tokens: 2 } })
    upstream.answer({ headers: { 'content-type': 'application/json' }, body: text })
    const answer = await gateway.post('/v1/embeddings', { model, input: ['x'] })
    expect(await answer.text()).to.equal(text)
  })

  it('passes on every field of images, whole and streamed', async () => {
    const asked = {
      model,
      prompt: 'a cat',
      n: 2,
      size: '1024x1024',
      quality: 'high',
      style: 'vivid',
      background: 'transparent',
      moderation: 'low',
      output_format: 'webp',
      output_compression: 80,
      response_format: 'b64_json',
      complexity: 'high',
      frame_count: 3,
      frame_duration_ms: 40,
      safety_identifier: 's',
      user: 'u',
    }
    upstream.answer({
      body: { created: 1, data: [{ b64_json: 'AA==', revised_prompt: 'p' }], output_format: 'webp', usage },
    })
    const whole = await client.images.generate(asked as OpenAI.ImageGenerateParamsNonStreaming)
    expect(whole).to.deep.include({ created: 1, output_format: 'webp', usage })
    expect(sentJson()).to.deep.equal({ ...asked, model: 'm-2026' })
    upstream.answer({
      frames: [
        event({ type: 'image_generation.partial_image', b64_json: 'AA==', partial_image_index: 0 }),
        event({ type: 'image_generation.completed', b64_json: 'AAAA', usage }),
        '[DONE]',
      ],
    })
    const stream = await client.images.generate({ model, prompt: 'a cat', stream: true, partial_images: 1 })
    expect(await Array.fromAsync(stream, (one) => [one.type, one.b64_json])).to.deep.equal([
      ['image_generation.partial_image', 'AA=='],
      ['image_generation.completed', 'AAAA'],
    ])
  })

  it('edits images as a form, whole and streamed', async () => {
    const image = await toFile(Buffer.from('png'), 'a%20"é.png', { type: 'image/png' })
    upstream.answer({ body: { created: 1, data: [{ b64_json: 'AA==' }] } })
    const asked = { model, prompt: 'a hat', image: [image, image], mask: image, input_fidelity: 'high' as const, n: 2 }
    expect((await client.images.edit(asked)).data).to.have.length(1)
    expect(await sentForm()).to.have.members([
      'image[]: a%20"é.png',
      'image[]: a%20"é.png',
      'input_fidelity: high',
      'mask: a%20"é.png',
      'model: m-2026',
      'n: 2',
      'prompt: a hat',
    ])
    upstream.answer({
      frames: [
        event({ type: 'image_edit.partial_image', b64_json: 'AA==', partial_image_index: 0 }),
        event({ type: 'image_edit.completed', b64_json: 'AAAA', usage }),
      ],
    })
    const stream = await client.images.edit({ model, prompt: 'a hat', image, stream: true })
    expect(await Array.fromAsync(stream, ({ type }) => type)).to.deep.equal([
      'image_edit.partial_image',
      'image_edit.completed',
    ])
  })

  it('speaks in bytes of any kind, as they come', async () => {
    for (const [format, type] of [
      ['mp3', 'audio/mpeg'],
      ['pcm', 'audio/pcm; rate=24000'],
      ['opus', 'audio/ogg'],
    ] as const) {
      let release = () => {}
      const held = new Promise<void>((resolve) => (release = resolve))
      async function* chunks() {
        yield Buffer.from('first')
        await held
        yield Buffer.from('second')
      }
      upstream.answer({ headers: { 'content-type': type }, chunks: chunks() })
      const answer = await client.audio.speech.create({
        model,
        voice: 'alloy',
        input: 'Hi',
        response_format: format,
        speed: 1.5,
        instructions: 'calm',
      })
      expect(answer.headers.get('content-type')).to.equal(type)
      const reader = answer.body?.getReader()
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal('first')
      release()
      expect(Buffer.from((await reader?.read())?.value ?? []).toString()).to.equal('second')
      expect((await reader?.read())?.done).to.equal(true)
      expect(sentJson()).to.deep.equal({
        model: 'm-2026',
        voice: 'alloy',
        input: 'Hi',
        response_format: format,
        speed: 1.5,
        instructions: 'calm',
      })
    }
  })

  it('transcribes in every format', async () => {
    const answers: readonly (readonly [OpenAI.AudioResponseFormat, string, string])[] = [
      ['json', 'application/json', JSON.stringify({ text: 'Hi', logprobs: [], languages: ['en'] })],
      [
        'verbose_json',
        'application/json',
        JSON.stringify({ text: 'Hi', language: 'en', duration: 2, segments: [], words: [] }),
      ],
      ['text', 'text/plain; charset=utf-8', 'Hi\n'],
      ['srt', 'application/x-subrip', '1\n00:00:00,000 --> 00:00:01,000\nHi\n'],
      ['vtt', 'text/vtt', 'WEBVTT\n\n00:00.000 --> 00:01.000\nHi\n'],
    ]
    for (const [format, type, text] of answers) {
      upstream.answer({ headers: { 'content-type': type }, body: Buffer.from(text) })
      const answer = await client.audio.transcriptions
        .create({ model, file: await sound(), response_format: format })
        .asResponse()
      expect(answer.headers.get('content-type')).to.equal(type)
      expect(await answer.text()).to.equal(text)
      const translated = await client.audio.translations
        .create({ model, file: await sound(), response_format: format as 'json' })
        .asResponse()
      expect(await translated.text()).to.equal(text)
    }
  })

  it('passes on every field of a transcription, lists and nested ones among them', async () => {
    upstream.answer({ body: { text: 'Hi' } })
    await client.audio.transcriptions.create({
      model,
      file: await sound(),
      language: 'en',
      prompt: 'p',
      temperature: 0.5,
      include: ['logprobs'],
      timestamp_granularities: ['word', 'segment'],
      chunking_strategy: { type: 'server_vad', threshold: 0.4 },
      known_speaker_names: ['a', 'b'],
      known_speaker_references: ['data:audio/wav;base64,AA==', 'data:audio/wav;base64,AB=='],
    })
    expect(await sentForm()).to.have.members([
      'chunking_strategy[threshold]: 0.4',
      'chunking_strategy[type]: server_vad',
      'file: call.mp3',
      'include[]: logprobs',
      'known_speaker_names[]: a',
      'known_speaker_names[]: b',
      'known_speaker_references[]: data:audio/wav;base64,AA==',
      'known_speaker_references[]: data:audio/wav;base64,AB==',
      'language: en',
      'model: m-2026',
      'prompt: p',
      'temperature: 0.5',
      'timestamp_granularities[]: segment',
      'timestamp_granularities[]: word',
    ])
  })

  it('streams a transcript with speakers', async () => {
    upstream.answer({
      frames: [
        event({ type: 'transcript.text.segment', id: 's1', speaker: 'A', start: 0, end: 1, text: 'Hi' }),
        event({ type: 'transcript.text.delta', delta: 'Hi' }),
        event({ type: 'transcript.text.done', text: 'Hi', usage: { type: 'tokens', ...usage } }),
      ],
    })
    const stream = await client.audio.transcriptions.create({
      model,
      file: await sound(),
      response_format: 'diarized_json',
      stream: true,
    })
    expect(await Array.fromAsync(stream, ({ type }) => type as string)).to.deep.equal([
      'transcript.text.segment',
      'transcript.text.delta',
      'transcript.text.done',
    ])
    expect((await gateway.rows()).at(-1)).to.include({ input_tokens: 3, output_tokens: 4, stream: 1 })
  })

  const streams: Record<string, () => Promise<AsyncIterable<unknown>>> = {
    images: () => client.images.generate({ model, prompt: 'a cat', stream: true }),
    'image edits': async () => client.images.edit({ model, prompt: 'a hat', image: await sound(), stream: true }),
    transcripts: async () => client.audio.transcriptions.create({ model, file: await sound(), stream: true }),
  }
  for (const [what, ask] of Object.entries(streams)) {
    it(`throws where a stream of ${what} breaks`, async () => {
      upstream.answer(() => ({ ...arrived([event({ type: 'x.partial', b64_json: 'AA==' })]), ending: 'reset' }))
      const seen: unknown[] = []
      const error: unknown = await (async () => {
        for await (const one of await ask()) seen.push(one)
      })().catch((reason: unknown) => reason)
      expect(seen).to.deep.equal([{ type: 'x.partial', b64_json: 'AA==' }])
      expect(error).to.include({ type: 'server_error', code: 'upstream_error' })
      expect((await gateway.rows()).at(-1)).to.include({ status: 200, result: 'failed', error: 'upstream_error' })
    })

    it(`throws what a stream of ${what} itself tells`, async () => {
      const error = { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Too fast', param: null }
      upstream.answer({ frames: [event({ type: 'x.partial' }), event({ type: 'error', error })] })
      const thrown: unknown = await (async () => {
        for await (const one of await ask()) expect(one).to.deep.equal({ type: 'x.partial' })
      })().catch((reason: unknown) => reason)
      expect(thrown).to.include({ code: 'rate_limit_exceeded' })
    })
  }

  it('ends speech that breaks as events with an error event', async () => {
    upstream.answer(() => ({ ...arrived([event({ type: 'speech.audio.delta', audio: 'AA==' })]), ending: 'reset' }))
    const answer = await client.audio.speech.create({ model, voice: 'alloy', input: 'Hi', stream_format: 'sse' })
    const [first, last] = (await answer.text()).trim().split('\n\n')
    expect(first).to.equal('event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"AA=="}')
    const [name, data = ''] = last?.split('\n') ?? []
    expect(name).to.equal('event: error')
    const told = JSON.parse(data.slice('data: '.length)) as { type: string; error: object }
    expect(told.type).to.equal('error')
    expect(Object.keys(told.error)).to.have.members(['message', 'type', 'param', 'code'])
  })
})
