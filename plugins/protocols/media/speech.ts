import { defineCodec } from '../../../engine/index.ts'
import { dialect, fail, failed } from './errors.ts'
import { model, text, textOrNull } from './fields.ts'
import { meter } from './meter.ts'
import { spoken } from './units.ts'

/** `POST /v1/audio/speech`: text to speech. Answers audio, or a stream of events with `stream_format: sse`. */
export default defineCodec({
  protocol: 'speech',
  operation: 'speak',
  summary: 'Text to speech.',
  address: { key: 'audio', path: '/audio/speech' },
  answers: 'bytes',
  schema: {
    type: 'object',
    required: ['model', 'input', 'voice'],
    properties: {
      model,
      input: text,
      voice: { type: ['string', 'object'] },
      instructions: textOrNull,
      response_format: textOrNull,
      speed: { type: ['number', 'null'], exclusiveMinimum: 0 },
      stream_format: { enum: ['audio', 'sse', null] },
    },
  },
  head: (body) => ({ model: body['model'] as string, stream: body['stream_format'] === 'sse', background: false }),
  error: dialect,
  meter: { ...meter(['speech.audio.done'], 'audio'), units: spoken },
  failed,
  fail,
})
