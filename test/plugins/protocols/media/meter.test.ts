import { expect } from 'chai'
import type { AnyCodec, Frame, Json } from '../../../../engine/index.ts'
import embeddings from '../../../../plugins/protocols/media/embeddings.ts'
import imageEdits from '../../../../plugins/protocols/media/image-edits.ts'
import images from '../../../../plugins/protocols/media/images.ts'
import speech from '../../../../plugins/protocols/media/speech.ts'
import transcriptions from '../../../../plugins/protocols/media/transcriptions.ts'

const usage = (input: number, output: number, cacheRead = 0) => ({
  input,
  cacheRead,
  cacheWrite: 0,
  output,
  reasoning: 0,
})
const frames = (...events: readonly Json[]): Frame[] =>
  events.map((event) => ({ data: typeof event === 'string' ? event : JSON.stringify(event) }))

describe('meters of media', () => {
  it('read embeddings', () => {
    const body = { object: 'list', data: [], model: 'e-large', usage: { prompt_tokens: 8, total_tokens: 8 } }
    expect(embeddings.meter.reply(body)).to.deep.equal({ usage: usage(8, 0), model: 'e-large' })
  })

  it('read pictures and transcripts', () => {
    const body = {
      created: 1,
      data: [],
      usage: {
        input_tokens: 50,
        output_tokens: 4160,
        total_tokens: 4210,
        input_tokens_details: { text_tokens: 50, image_tokens: 0 },
      },
    }
    expect(images.meter.reply(body)).to.deep.equal({ usage: { ...usage(50, 4160), outputImage: 4160 } })
    const cached = { usage: { input_tokens: 50, output_tokens: 1, input_tokens_details: { cached_tokens: 20 } } }
    expect(images.meter.reply(cached)).to.deep.equal({ usage: { ...usage(30, 1, 20), outputImage: 1 } })
    const told = { text: 'Hi', usage: { type: 'tokens', input_tokens: 14, output_tokens: 45, total_tokens: 59 } }
    expect(transcriptions.meter.reply(told)).to.deep.equal({ usage: usage(14, 45) })
    const heard = { audio_tokens: 10, text_tokens: 4, cached_tokens: 6 }
    expect(transcriptions.meter.reply({ usage: { ...told.usage, input_token_details: heard } })).to.deep.equal({
      usage: { ...usage(8, 45, 6), inputAudio: 8 },
    })
    expect(transcriptions.meter.reply({ text: 'Hi', usage: { type: 'duration', seconds: 9 } })).to.deep.equal({})
  })

  const unknown: readonly Json[] = [
    null,
    5,
    {},
    { prompt_tokens: -1 },
    { prompt_tokens: 1.5 },
    { prompt_tokens: '8' },
    { prompt_tokens: 2 ** 53 },
    { prompt_tokens: 1, completion_tokens: -1 },
    { input_tokens: 1 },
    { input_tokens: 1, output_tokens: 'x' },
    { input_tokens: 1, output_tokens: 1, input_tokens_details: { cached_tokens: 2 } },
  ]
  for (const given of unknown) {
    it(`know no usage in ${JSON.stringify(given)}`, () => {
      expect(embeddings.meter.reply({ usage: given })).to.deep.equal({})
    })
  }

  it('know nothing of answers that are no object', () => {
    for (const body of [null, 'text', [], 5]) expect(images.meter.reply(body)).to.deep.equal({})
  })

  const table: readonly (readonly [what: string, codec: AnyCodec, given: Json, expected: object])[] = [
    [
      'pictures and text of both sides',
      images,
      {
        input_tokens: 100,
        input_tokens_details: { text_tokens: 40, image_tokens: 60 },
        output_tokens: 50,
        output_tokens_details: { text_tokens: 20, image_tokens: 30 },
      },
      { ...usage(100, 50), inputImage: 60, outputImage: 30 },
    ],
    [
      'cached tokens by kind',
      imageEdits,
      {
        input_tokens: 100,
        input_tokens_details: {
          text_tokens: 40,
          image_tokens: 60,
          cached_tokens: 50,
          cached_tokens_details: { text_tokens: 10, image_tokens: 40 },
        },
        output_tokens: 1,
        output_tokens_details: { text_tokens: 0, image_tokens: 1 },
      },
      { ...usage(50, 1, 50), inputImage: 20, outputImage: 1 },
    ],
    [
      'cached tokens of no kind as text first',
      transcriptions,
      {
        input_tokens: 100,
        input_token_details: { text_tokens: 30, audio_tokens: 70, cached_tokens: 50 },
        output_tokens: 5,
      },
      { ...usage(50, 5, 50), inputAudio: 50 },
    ],
    [
      'what does not add up as text',
      transcriptions,
      { input_tokens: 100, input_token_details: { text_tokens: 1, audio_tokens: 70 }, output_tokens: 5 },
      { ...usage(100, 5), inputAudio: 70 },
    ],
    [
      'no more of a kind than there is',
      images,
      {
        input_tokens: 10,
        input_tokens_details: { audio_tokens: 8, image_tokens: 60 },
        output_tokens: 0,
        output_tokens_details: null,
      },
      { ...usage(10, 0), inputAudio: 8, inputImage: 2 },
    ],
    ['speech as audio', speech, { input_tokens: 14, output_tokens: 101 }, { ...usage(14, 101), outputAudio: 101 }],
    [
      'output whose details tell no kind as what it is',
      images,
      { input_tokens: 10, output_tokens: 20, output_tokens_details: { reasoning_tokens: 0 } },
      { ...usage(10, 20), outputImage: 20 },
    ],
  ]
  for (const [what, codec, given, expected] of table)
    it(`count ${what}`, () => expect(codec.meter.reply({ usage: given })).to.deep.equal({ usage: expected }))

  it('count the model that wrote an SVG apart', () => {
    const svg_usage = { model: 'writer-2026', input_tokens: 7, output_tokens: 9, total_tokens: 16 }
    const further = [{ model: 'writer-2026', usage: usage(7, 9) }]
    expect(images.meter.reply({ data: [{}], svg_usage })).to.deep.equal({ further })
    expect(images.meter.reply({ data: [{}], svg_usage: { input_tokens: 7 } })).to.deep.equal({})
  })

  const streams: readonly (readonly [codec: AnyCodec, last: string, kind: object])[] = [
    [images, 'image_generation.completed', { outputImage: 4 }],
    [imageEdits, 'image_edit.completed', { outputImage: 4 }],
    [speech, 'speech.audio.done', { outputAudio: 4 }],
    [transcriptions, 'transcript.text.done', {}],
  ]
  for (const [codec, type, kind] of streams) {
    it(`read a stream of ${codec.protocol}`, () => {
      const end = { type, usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } }
      const complete = { usage: { ...usage(3, 4), ...kind }, complete: true }
      expect(codec.meter.stream([], frames({ type: 'other' }, end))).to.deep.equal(complete)
      expect(codec.meter.stream([], frames(end, '[DONE]'))).to.deep.equal(complete)
      expect(codec.meter.stream([], frames({ type }))).to.deep.equal({ complete: true })
      expect(codec.meter.stream([], frames({ type: 'other', text: type }))).to.deep.equal({ complete: false })
      expect(codec.meter.stream([], frames(`{"type":"${type}"`))).to.deep.equal({ complete: false })
    })
  }

  it('read the streams of servers with events of their own', () => {
    const last = frames({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } }, '[DONE]')
    expect(transcriptions.meter.stream([], last)).to.deep.equal({ usage: usage(3, 4), complete: true })
  })

  it('take a picture that was too large to be kept for complete, and an empty transcript for broken', () => {
    expect(images.meter.stream([], [])).to.deep.equal({ complete: true })
    expect(imageEdits.meter.stream(frames({ type: 'image_edit.partial_image' }), [])).to.deep.equal({ complete: true })
    const end = 'AAAA","usage":{"input_tokens":50,"output_tokens":4160,"input_tokens_details":{"cached_tokens":20}}}'
    expect(images.meter.torn?.(end)).to.deep.equal({ usage: { ...usage(30, 4160, 20), outputImage: 4160 } })
    expect(images.meter.torn?.('AAAA","partial_image_index":1}')).to.equal(undefined)
    expect(transcriptions.meter.stream([], [])).to.deep.equal({ complete: false })
    expect(speech.meter.stream([], [])).to.deep.equal({ complete: false })
  })
})
