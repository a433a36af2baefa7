import { defineCodec } from '../../../engine/index.ts'
import { dialect, fail, failed } from './errors.ts'
import { file, flagOrText, head, model, numberOrText, once, text, textOrNull } from './fields.ts'
import { pictureMeter } from './meter.ts'
import { pictures } from './units.ts'

/** An image: a file of a form, or in JSON a URL, a data URL, or an object with either or a file id. */
const picture = { type: ['object', 'string'] } as const

/** `POST /v1/images/edits`: images from images and a text; a form with files, or JSON. */
export default defineCodec({
  protocol: 'image-edits',
  operation: 'edit',
  summary: 'Image edits.',
  address: { key: 'images', path: '/images/edits' },
  content: 'either',
  schema: {
    type: 'object',
    examples: [{ model: 'my-model', prompt: 'A red hat.', image: 'https://example.com/hat.png' }],
    required: ['model', 'prompt'],
    properties: {
      model,
      prompt: text,
      image: { type: ['object', 'string', 'array'], minItems: 1, items: picture },
      'image[]': { type: 'array', items: file },
      images: { type: 'array', minItems: 1, items: picture },
      mask: { type: ['object', 'string', 'null'] },
      n: numberOrText,
      stream: flagOrText,
      partial_images: once,
      background: once,
      input_fidelity: once,
      output_compression: once,
      output_format: once,
      quality: once,
      response_format: once,
      size: once,
      user: textOrNull,
    },
    anyOf: [{ required: ['image'] }, { required: ['image[]'] }, { required: ['images'] }],
  },
  head,
  error: dialect,
  meter: { ...pictureMeter('image_edit.completed'), units: pictures },
  failed,
  fail,
})
