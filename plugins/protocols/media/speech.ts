import { defineCodec } from '../../../engine/index.ts'
import { dialect, fail, failed } from './errors.ts'
import { model, text, unread } from './fields.ts'
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
      stream_format: { enum: ['audio', 'sse', null] },
      ...unread('instructions', 'response_format', 'speed'),
    },
  },
  head: (body) => ({ model: body['model'] as string, stream: body['stream_format'] === 'sse', background: false }),
  error: dialect,
  meter: { ...meter(['speech.audio.done'], 'audio'), units: spoken },
  failed,
  fail,
})
