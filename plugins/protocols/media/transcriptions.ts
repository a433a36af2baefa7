import { defineCodec } from '../../../engine/index.ts'
import { dialect, fail, failed } from './errors.ts'
import { file, flagOrText, head, model, numberOrText, textOrNull } from './fields.ts'
import { meter } from './meter.ts'
import { heard } from './units.ts'

/** `POST /v1/audio/transcriptions`: a transcript of audio, as JSON, plain text, subtitles or a stream. */
export default defineCodec({
  protocol: 'transcriptions',
  operation: 'transcribe',
  summary: 'Transcripts of audio.',
  address: { key: 'audio', path: '/audio/transcriptions' },
  content: 'multipart',
  answers: 'text',
  schema: {
    type: 'object',
    required: ['model', 'file'],
    properties: {
      model,
      file,
      language: textOrNull,
      prompt: textOrNull,
      response_format: textOrNull,
      temperature: numberOrText,
      stream: flagOrText,
    },
  },
  head,
  error: dialect,
  meter: { ...meter(['transcript.text.done']), units: heard },
  failed,
  fail,
})
