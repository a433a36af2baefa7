import { defineCodec } from '../../../engine/index.ts'
import { dialect } from './errors.ts'
import { file, model, numberOrText, textOrNull } from './fields.ts'
import { meter } from './meter.ts'
import { heard } from './units.ts'

/** `POST /v1/audio/translations`: an English transcript of audio. Never streamed. */
export default defineCodec({
  protocol: 'translations',
  operation: 'translate',
  summary: 'English transcripts of audio in other languages.',
  address: { key: 'audio', path: '/audio/translations' },
  content: 'multipart',
  answers: 'text',
  schema: {
    type: 'object',
    required: ['model', 'file'],
    properties: { model, file, prompt: textOrNull, response_format: textOrNull, temperature: numberOrText },
  },
  head: (body) => ({ model: body['model'] as string, stream: false, background: false }),
  error: dialect,
  meter: { ...meter([]), units: heard },
})
