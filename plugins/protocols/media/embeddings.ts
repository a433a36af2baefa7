import { defineCodec } from '../../../engine/index.ts'
import { dialect } from './errors.ts'
import { model, textOrNull } from './fields.ts'
import { meter } from './meter.ts'
import { parse, parseReply, print, printReply } from './vectors.ts'

/** `POST /v1/embeddings`: vectors of texts or of token lists. */
export default defineCodec<'embed'>({
  protocol: 'embeddings',
  operation: 'embed',
  summary: 'Embeddings.',
  address: { path: '/embeddings' },
  schema: {
    type: 'object',
    required: ['model', 'input'],
    properties: {
      model,
      input: {
        type: ['string', 'array'],
        minLength: 1,
        minItems: 1,
        items: { type: ['string', 'integer', 'array', 'object'] },
      },
      dimensions: { type: ['integer', 'null'], minimum: 1 },
      encoding_format: textOrNull,
      user: textOrNull,
    },
  },
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error: dialect,
  meter: meter([]),
  request: { parse, print },
  reply: { parse: parseReply, print: printReply },
})
