import { defineCodec } from '../../../engine/index.ts'
import { dialect, fail, failed } from './errors.ts'
import { head, model, text, textOrNull, unread } from './fields.ts'
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
      svg: { type: ['object', 'null'], properties: { model: { type: ['string', 'null'], minLength: 1 } } },
      user: textOrNull,
      ...unread(
        'background',
        'complexity',
        'frame_count',
        'frame_duration_ms',
        'moderation',
        'output_compression',
        'output_format',
        'partial_images',
        'quality',
        'response_format',
        'safety_identifier',
        'size',
        'style',
      ),
    },
  },
  head,
  error: dialect,
  meter: { ...pictureMeter('image_generation.completed'), units: pictures },
  failed,
  fail,
})
