import { defineCodec } from '../../../../engine/index.ts'
import { error } from '../../chat/errors.ts'
import { meter } from '../usage.ts'
import { check, mistaken } from './check.ts'
import { parse as parseReply, print as printReply } from './reply.ts'
import { parse, print } from './request.ts'
import { schema } from './schema.ts'
import { protocol } from './wire.ts'

/** `POST /v1/mapeval`: the same questions as decisions, as a map about one state. There are no streams. */
export default defineCodec<'decide'>({
  protocol,
  operation: 'decide',
  summary: 'The alternate envelope of decisions: questions and answers as maps, the evidence as one state.',
  address: { path: '/mapeval' },
  schema,
  traits: { images: { type: 'string', description: 'The field that takes images. Without it they are dropped.' } },
  check,
  mistaken,
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error,
  meter,
  request: { parse, print, verbatim: new Set(['state', 'questions']) },
  reply: { parse: parseReply, print: printReply },
})
