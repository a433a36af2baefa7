import { defineCodec } from '../../../engine/index.ts'
import { dialect, fail, failed } from './errors.ts'
import { head, model, text, textOrNull } from './fields.ts'
import { pictureMeter } from './meter.ts'
import { pictures } from './units.ts'

/** `POST /v1/images/generations`: images from a text, whole or streamed. */
export default defineCodec({
  protocol: 'images',
  operation: 'image',
  summary: 'Image generation.',
  address: { path: '/images/generations' },
  schema: {
    type: 'object',
    required: ['model', 'prompt'],
    properties: {
      model,
      prompt: text,
      n: { type: ['integer', 'null'], minimum: 1 },
      stream: { type: ['boolean', 'null'] },
      partial_images: { type: ['integer', 'null'], minimum: 0 },
      background: textOrNull,
      moderation: textOrNull,
      output_compression: { type: ['integer', 'null'], minimum: 0, maximum: 100 },
      output_format: textOrNull,
      quality: textOrNull,
      response_format: textOrNull,
      size: textOrNull,
      style: textOrNull,
      svg: { type: ['object', 'null'], properties: { model: { type: ['string', 'null'], minLength: 1 } } },
      user: textOrNull,
    },
  },
  head,
  error: dialect,
  meter: { ...pictureMeter('image_generation.completed'), units: pictures },
  failed,
  fail,
})
