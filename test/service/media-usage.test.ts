import { expect } from 'chai'
import { toFile } from 'openai'
import { openai } from '../support/clients.ts'
import { startGateway } from '../support/gateway.ts'
import type { RunningGateway } from '../support/gateway.ts'
import { scriptedUpstream } from '../support/upstream.ts'
import type { ScriptedUpstream } from '../support/upstream.ts'
import { arrived } from './streams.ts'

/** Prices of a model that bills each kind of token apart. */
const pricing = {
  input: 1,
  cache_read: 0.1,
  input_audio: 10,
  input_image: 20,
  output: 100,
  output_audio: 1_000,
  output_image: 10_000,
}
const picture = 'A'.repeat(600_000)
const partial = { type: 'image_generation.partial_image', b64_json: picture, partial_image_index: 0 }
const completed = { type: 'image_generation.completed', b64_json: picture }
const file = () => toFile(Buffer.from('a recording'), 'call.mp3', { type: 'audio/mpeg' })

describe('what media use', () => {
  let upstream: ScriptedUpstream
  let gateway: RunningGateway
  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startGateway({
      providers: [{ name: 'vendor', type: 'native', base_url: upstream.url, api_key: 'upstream-key' }],
      models: [
        { name: 'tokens', provider: 'vendor', pricing },
        { name: 'images', provider: 'vendor', pricing: { images: 0.04 } },
        { name: 'speaker', provider: 'vendor', pricing: { ...pricing, characters: 15 } },
        { name: 'listener', provider: 'vendor', pricing: { ...pricing, seconds: 0.01 } },
      ],
      server_config: { resilience: { max_event_bytes: 1_000_000 } },
    })
  })
  after(async () => {
    await gateway.close()
    await upstream.close()
  })

  const last = async () => {
    const row = (await gateway.rows()).at(-1)
    const { units, cost } = JSON.parse(row?.metadata ?? '{}') as Record<string, unknown>
    const { cost_micros: micros, input_tokens, cache_read_tokens, output_tokens, result } = row ?? {}
    return { micros, units, cost, result, tokens: [input_tokens, cache_read_tokens, output_tokens] }
  }

  it('is told by kind: the tokens of pictures and of text', async () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { text_tokens: 40, image_tokens: 60 },
      output_tokens: 50,
      output_tokens_details: { text_tokens: 20, image_tokens: 30 },
      total_tokens: 150,
    }
    upstream.answer({ body: { created: 1, data: [{ b64_json: 'AA==' }], usage } })
    await openai(gateway).images.generate({ model: 'tokens', prompt: 'a cat' })
    expect(await last()).to.deep.equal({
      micros: 40 + 60 * 20 + 20 * 100 + 30 * 10_000,
      units: { images: 1, image_input: 60, image_output: 30 },
      cost: undefined,
      result: 'completed',
      tokens: [100, 0, 50],
    })
  })

  it('is told by kind where some came from a cache', async () => {
    const usage = {
      type: 'tokens',
      input_tokens: 100,
      input_token_details: {
        text_tokens: 40,
        audio_tokens: 60,
        cached_tokens: 50,
        cached_tokens_details: { text_tokens: 10, audio_tokens: 40 },
      },
      output_tokens: 2,
      total_tokens: 102,
    }
    upstream.answer({ body: { text: 'Hello', usage } })
    await openai(gateway).audio.transcriptions.create({ model: 'tokens', file: await file() })
    expect(await last()).to.deep.include({
      micros: 30 + 20 * 10 + 50 * 0.1 + 2 * 100,
      units: { audio_input: 20 },
      tokens: [50, 50, 2],
    })
  })

  it('is audio where speech comes as events', async () => {
    const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 }
    upstream.answer({
      frames: [
        { event: 'speech.audio.delta', data: { type: 'speech.audio.delta', audio: 'AAAA' } },
        { event: 'speech.audio.done', data: { type: 'speech.audio.done', usage } },
      ],
    })
    const request = { model: 'speaker', voice: 'alloy', input: 'Hi', stream_format: 'sse' } as const
    const answer = await openai(gateway).audio.speech.create(request)
    expect(answer.headers.get('content-type')).to.match(/^text\/event-stream/)
    expect(await answer.text()).to.equal(
      'event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"AAAA"}\n\n' +
        `event: speech.audio.done\ndata: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`,
    )
    expect(await last()).to.deep.include({
      micros: 14 + 101 * 1_000,
      units: { characters: 2, audio_output: 101 },
      tokens: [14, 0, 101],
    })
  })

  it('is unknown where speech comes as bytes and has a price in tokens alone', async () => {
    upstream.answer({ headers: { 'content-type': 'audio/mpeg' }, body: Buffer.from([1, 2, 3]) })
    const speak = async (model: string) => {
      const answer = await openai(gateway).audio.speech.create({ model, voice: 'alloy', input: 'Hi' })
      expect(await answer.arrayBuffer()).to.have.property('byteLength', 3)
    }
    await speak('tokens')
    expect(await last()).to.deep.include({ micros: null, units: { characters: 2 }, cost: 'unknown' })
    await speak('speaker')
    expect(await last()).to.deep.include({ micros: 30, units: { characters: 2 }, cost: undefined })
  })

  it('is the pictures that a stream delivered, not those that were asked for', async () => {
    upstream.answer({ frames: [completed, partial, completed, completed].map((data) => ({ event: data.type, data })) })
    const stream = await openai(gateway).images.generate({ model: 'images', prompt: 'a cat', n: 5, stream: true })
    expect(await Array.fromAsync(stream, ({ type }) => type.split('.')[1])).to.deep.equal([
      'completed',
      'partial_image',
      'completed',
      'completed',
    ])
    expect(await last()).to.deep.include({ micros: 120_000, units: { images: 3 } })
  })

  it('is counted and read though a picture is larger than any event that is held', async () => {
    const usage = { input_tokens: 10, output_tokens: 4_160, total_tokens: 4_170 }
    const large = { ...completed, b64_json: 'A'.repeat(5_000_000) }
    upstream.answer({ frames: [{ data: large }, { data: partial }, { data: { ...large, usage } }] })
    const stream = await openai(gateway).images.generate({ model: 'tokens', prompt: 'a cat', stream: true })
    const got = await Array.fromAsync(stream, ({ type, b64_json }) => `${type} ${b64_json.length}`)
    expect(got).to.deep.equal([
      'image_generation.completed 5000000',
      'image_generation.partial_image 600000',
      'image_generation.completed 5000000',
    ])
    expect(await last()).to.deep.include({
      micros: 10 + 4_160 * 10_000,
      units: { images: 2, image_output: 4_160 },
      tokens: [10, 0, 4_160],
      result: 'completed',
    })
  })

  it('is what was delivered before a stream broke', async () => {
    upstream.answer(() => ({ ...arrived([{ data: completed }, { data: partial }]), ending: 'reset' }))
    const stream = await openai(gateway).images.generate({ model: 'images', prompt: 'a cat', n: 2, stream: true })
    const seen: string[] = []
    const error: unknown = await (async () => {
      for await (const { type } of stream) seen.push(type)
    })().catch((reason: unknown) => reason)
    expect(error).to.have.property('message')
    expect(seen).to.deep.equal(['image_generation.completed', 'image_generation.partial_image'])
    expect(await last()).to.deep.include({ micros: 40_000, units: { images: 1 }, result: 'failed' })
  })

  it('is tokens first, then seconds, and unknown without either', async () => {
    const heard = (body: object) => {
      upstream.answer({ body: body as never })
      return async (model: string) => {
        await openai(gateway).audio.transcriptions.create({
          model,
          file: await file(),
          response_format: 'verbose_json',
        })
        return last()
      }
    }
    const verbose = { text: 'Hello', language: 'en', duration: 8.5, segments: [] }
    const usage = { type: 'tokens', input_tokens: 10, output_tokens: 1, total_tokens: 11 }
    expect(await heard({ ...verbose, usage })('listener')).to.deep.include({ micros: 110, units: { seconds: 8.5 } })
    expect(await heard(verbose)('listener')).to.deep.include({ micros: 85_000, units: { seconds: 8.5 } })
    expect(await heard({ text: 'Hello' })('listener')).to.deep.include({
      micros: null,
      units: undefined,
      cost: 'unknown',
    })
  })
})
