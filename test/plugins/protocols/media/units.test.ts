import { expect } from 'chai'
import type { AnyCodec, Json, JsonObject } from '../../../../engine/index.ts'
import imageEdits from '../../../../plugins/protocols/media/image-edits.ts'
import images from '../../../../plugins/protocols/media/images.ts'
import speech from '../../../../plugins/protocols/media/speech.ts'
import transcriptions from '../../../../plugins/protocols/media/transcriptions.ts'
import translations from '../../../../plugins/protocols/media/translations.ts'

const table: readonly (readonly [string, AnyCodec, JsonObject, Json, boolean, object])[] = [
  ['the pictures of an answer', images, { n: 3 }, { data: [{}, {}] }, true, { images: 2 }],
  ['no pictures', images, {}, { data: [] }, true, { images: 0 }],
  ['an answer without pictures', images, {}, { error: {} }, true, {}],
  ['the picture of a stream', images, {}, { type: 'image_generation.completed' }, true, { images: 1 }],
  ['as many pictures of a stream as were asked for', images, { n: 2 }, null, true, { images: 2 }],
  ['those of a form', imageEdits, { n: '2' }, { type: 'image_edit.completed' }, true, { images: 2 }],
  ['a stream that broke', images, {}, { type: 'image_generation.partial_image' }, false, {}],
  ['a number of pictures that is none', imageEdits, { n: 'two' }, null, true, {}],
  ['the characters of a text', speech, { input: 'Grüße 👋' }, null, true, { characters: 7 }],
  ['a text without characters', speech, { input: '' }, null, false, { characters: 0 }],
  ['half of a pair', speech, { input: '\ud83d!' }, null, true, { characters: 2 }],
  ['no text', speech, { input: 5 }, null, true, {}],
  ['usage in seconds', transcriptions, {}, { text: '', usage: { type: 'duration', seconds: 9 } }, true, { seconds: 9 }],
  ['how long a recording is', transcriptions, {}, { text: '', duration: 8.47 }, true, { seconds: 8.47 }],
  ['both', transcriptions, {}, { duration: 8.47, usage: { type: 'duration', seconds: 9 } }, true, { seconds: 9 }],
  [
    'how long, with usage in tokens',
    translations,
    {},
    { duration: 2, usage: { input_tokens: 1 } },
    true,
    { seconds: 2 },
  ],
  ['the end of a stream', transcriptions, {}, { usage: { type: 'duration', seconds: 3 } }, true, { seconds: 3 }],
  ['seconds that make no sense', transcriptions, {}, { usage: { type: 'duration', seconds: -3 } }, true, {}],
  ['seconds that are a text', translations, {}, { duration: '3' }, true, {}],
  ['plain text', transcriptions, {}, null, true, {}],
]

describe('units of media', () => {
  it('are the pictures of a stream that were delivered, whatever was asked for and however it ended', () => {
    expect(images.meter.units?.({ n: 5 }, null, true, 3)).to.deep.equal({ images: 3 })
    expect(imageEdits.meter.units?.({}, { type: 'image_edit.partial_image' }, false, 2)).to.deep.equal({ images: 2 })
    expect(images.meter.units?.({}, { data: [{}] }, true, 2)).to.deep.equal({ images: 1 })
    expect(images.meter.units?.({ n: 2 }, null, false, 0)).to.deep.equal({})
  })

  for (const [what, codec, request, answer, complete, expected] of table)
    it(`tell ${what}`, () => expect(codec.meter.units?.(request, answer, complete)).to.deep.equal(expected))
})
