import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { FormReader } from '../../../../engine/kit.ts'
import type { AnyCodec } from '../../../../engine/index.ts'
import embeddings from '../../../../plugins/protocols/media/embeddings.ts'
import imageEdits from '../../../../plugins/protocols/media/image-edits.ts'
import images from '../../../../plugins/protocols/media/images.ts'
import speech from '../../../../plugins/protocols/media/speech.ts'
import transcriptions from '../../../../plugins/protocols/media/transcriptions.ts'
import translations from '../../../../plugins/protocols/media/translations.ts'

const ajv = new Ajv2020({ strict: false, ownProperties: true })

/** What is wrong with a body: the place and the rule, or undefined. */
function fault(codec: AnyCodec, body: unknown): string | undefined {
  const valid = ajv.compile(codec.schema)
  if (valid(body)) return undefined
  const error = valid.errors?.[0]
  return `${error?.instancePath} ${error?.keyword} ${String(error?.params['missingProperty'] ?? '')}`.trim()
}

async function form(fields: Readonly<Record<string, string | File | readonly string[]>>) {
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (Array.isArray(value)) for (const item of value) data.append(name, String(item))
    else data.append(name, value)
  }
  const request = new Request('http://localhost', { method: 'POST', body: data })
  const reader = new FormReader(request.headers.get('content-type') ?? '')
  reader.push(Buffer.from(await request.arrayBuffer()))
  return (await reader.read()).fields
}

const audio = new File(['RIFF'], 'speech.wav', { type: 'audio/wav' })
const picture = new File(['PNG'], 'a.png', { type: 'image/png' })

describe('media codecs', () => {
  it('have the names, operations, contents and answers of their routes', () => {
    const codecs: AnyCodec[] = [embeddings, images, imageEdits, speech, transcriptions, translations]
    expect(
      codecs.map(({ protocol, operation, content, answers }) => [protocol, operation, content, answers]),
    ).to.deep.equal([
      ['embeddings', 'embed', undefined, undefined],
      ['images', 'image', undefined, undefined],
      ['image-edits', 'edit', 'either', undefined],
      ['speech', 'speak', undefined, 'bytes'],
      ['transcriptions', 'transcribe', 'multipart', 'text'],
      ['translations', 'translate', 'multipart', 'text'],
    ])
    // Only vectors are translated; other media are relayed.
    for (const { protocol, request, reply, events } of codecs)
      expect([request !== undefined, reply !== undefined, events]).to.deep.equal([
        protocol === 'embeddings',
        protocol === 'embeddings',
        undefined,
      ])
  })

  const good: readonly (readonly [codec: AnyCodec, body: object])[] = [
    [embeddings, { model: 'm', input: 'text' }],
    [embeddings, { model: 'm', input: ['a', 'b'], dimensions: 3, encoding_format: 'base64', user: 'u' }],
    [embeddings, { model: 'm', input: [1, 2] }],
    [images, { model: 'm', prompt: 'p', svg: { model: 's', reasoning: {} } }],
    [embeddings, { model: 'm', input: [[1], [2]], dimensions: null, encoding_format: null, own: true }],
    [images, { model: 'm', prompt: 'p', n: 2, stream: true, size: null, background: 'auto' }],
    [imageEdits, { model: 'm', prompt: 'p', image: 'data:image/png;base64,AA==' }],
    [
      imageEdits,
      { model: 'm', prompt: 'p', image: ['https://host/a.png'], mask: { file_id: 'f' }, stream: false, n: 1 },
    ],
    [imageEdits, { model: 'm', prompt: 'p', images: [{ image_url: 'https://host/a.png' }] }],
    [speech, { model: 'm', input: 'Hi', voice: 'alloy', speed: 1.5, stream_format: 'sse' }],
    [speech, { model: 'm', input: 'Hi', voice: { id: 'v' }, instructions: null }],
    // What the gateway does not read is the provider's to check.
    [embeddings, { model: 'm', input: 'a', encoding_format: 'int8' }],
    [
      images,
      { model: 'm', prompt: 'p', size: { width: 8, height: 8 }, output_compression: 200, style: 5, moderation: {} },
    ],
    [imageEdits, { model: 'm', prompt: 'p', image: 'x', size: { width: 8 }, quality: 5, output_compression: true }],
    [speech, { model: 'm', input: 'Hi', voice: 'v', speed: 0 }],
    [speech, { model: 'm', input: 'Hi', voice: 'v', speed: 'fast' }],
    [speech, { model: 'm', input: 'Hi', voice: 'v', instructions: ['slowly'], response_format: { type: 'wav' } }],
  ]
  for (const [codec, body] of good) {
    it(`${codec.protocol} accepts ${JSON.stringify(body)}`, () => expect(fault(codec, body)).to.equal(undefined))
  }

  const bad: readonly (readonly [codec: AnyCodec, body: object, fault: string])[] = [
    [embeddings, { input: 'text' }, 'required model'],
    [embeddings, { model: 'm' }, 'required input'],
    [embeddings, { model: 'm', input: [] }, '/input minItems'],
    [embeddings, { model: 'm', input: '' }, '/input minLength'],
    [images, { model: 'm', prompt: 'p', svg: { model: 5 } }, '/svg/model type'],
    [embeddings, { model: 'm', input: 5 }, '/input type'],
    [embeddings, { model: 'm', input: 'a', dimensions: 0 }, '/dimensions minimum'],
    [images, { model: 'm' }, 'required prompt'],
    [images, { model: '', prompt: 'p' }, '/model minLength'],
    [images, { model: 'm', prompt: 'p', stream: 'true' }, '/stream type'],
    [imageEdits, { model: 'm', prompt: 'p', image: 'x', stream: 'maybe' }, '/stream enum'],
    [imageEdits, { model: 'm', prompt: 'p' }, 'required image'],
    [imageEdits, { model: 'm', prompt: 'p', image: 5 }, '/image type'],
    [imageEdits, { prompt: 'p', image: 'x' }, 'required model'],
    [speech, { model: 'm', input: 'Hi' }, 'required voice'],
    [imageEdits, { model: 'm', prompt: 'p', image: 'x', size: ['1x1', '2x2'] }, '/size type'],
    [speech, { model: 'm', input: 'Hi', voice: 'v', stream_format: 'mp3' }, '/stream_format enum'],
  ]
  for (const [codec, body, expected] of bad) {
    it(`${codec.protocol} refuses ${JSON.stringify(body)}`, () => expect(fault(codec, body)).to.equal(expected))
  }

  for (const codec of [transcriptions, translations]) {
    it(`${codec.protocol} needs model and file`, async () => {
      expect(fault(codec, await form({ model: 'm', file: audio, temperature: '0.2', prompt: '' }))).to.equal(undefined)
      expect(fault(codec, await form({ file: audio }))).to.equal('required model')
      expect(fault(codec, await form({ model: 'm' }))).to.equal('required file')
      expect(fault(codec, await form({ model: '', file: audio }))).to.equal('/model minLength')
      expect(fault(codec, await form({ model: 'm', file: 'a text' }))).to.equal('/file type')
      expect(fault(codec, await form({ model: audio, file: audio }))).to.equal('/model type')
      expect(fault(codec, await form({ model: ['m', 'm'], file: audio }))).to.equal('/model type')
    })
  }

  it('stream in a form is one of the words that every reader takes in the same way', async () => {
    const faultOf = async (stream: string) => fault(transcriptions, await form({ model: 'm', file: audio, stream }))
    for (const word of ['true', 'True', '1', 'false', 'False', '0']) expect(await faultOf(word)).to.equal(undefined)
    for (const word of ['TRUE', 'yes', 'on', '']) expect(await faultOf(word)).to.equal('/stream enum')
  })

  it('transcriptions takes lists', async () => {
    const body = await form({
      model: 'm',
      file: audio,
      'include[]': ['logprobs'],
      'timestamp_granularities[]': ['word', 'segment'],
    })
    expect(fault(transcriptions, body)).to.equal(undefined)
    expect(body['timestamp_granularities[]']).to.deep.equal(['word', 'segment'])
  })

  it('image-edits takes a form with one picture or several, and a mask', async () => {
    const base = { model: 'm', prompt: 'p', n: '2' }
    expect(fault(imageEdits, await form({ ...base, image: picture, mask: picture }))).to.equal(undefined)
    expect(fault(imageEdits, await form({ ...base, 'image[]': picture }))).to.equal(undefined)
    expect(fault(imageEdits, await form(base))).to.equal('required image')
    expect(fault(imageEdits, await form({ ...base, 'image[]': 'a text' }))).to.equal('/image[]/0 type')
  })

  it('read the head of a body', () => {
    expect(embeddings.head({ model: 'm', stream: true })).to.deep.equal({
      model: 'm',
      stream: false,
      background: false,
    })
    expect(translations.head({ model: 'm', stream: 'true' })).to.deep.equal({
      model: 'm',
      stream: false,
      background: false,
    })
    expect(images.head({ model: 'm', stream: true })).to.deep.equal({ model: 'm', stream: true, background: false })
    expect(speech.head({ model: 'm', stream_format: 'sse' })).to.deep.equal({
      model: 'm',
      stream: true,
      background: false,
    })
    expect(speech.head({ model: 'm', stream_format: 'audio' }).stream).to.equal(false)
    const streams = ['true', 'True', '1', true].map((stream) => transcriptions.head({ model: 'm', stream }).stream)
    const wholes = ['false', '0', '', false, null, undefined].map(
      (stream) => imageEdits.head({ model: 'm', stream }).stream,
    )
    expect([streams, wholes]).to.deep.equal([Array(4).fill(true), Array(6).fill(false)])
  })
})
