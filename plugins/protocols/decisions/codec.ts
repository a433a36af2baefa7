import { defineCodec } from '../../../engine/index.ts'
import { error } from '../chat/errors.ts'
import { check, mistaken } from './check.ts'
import { parse as parseReply, print as printReply } from './reply.ts'
import { parse, print } from './request.ts'
import { schema } from './schema.ts'
import { meter } from './usage.ts'
import { protocol } from './wire.ts'

/** `POST /v1/decisions`: typed questions about shared evidence, one typed answer each. There are no streams. */
export default defineCodec<'decide'>({
  protocol,
  operation: 'decide',
  summary: 'Decisions: typed questions in a list, one typed answer each.',
  address: { path: '/decisions' },
  schema,
  check,
  mistaken,
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error,
  meter,
  request: { parse, print },
  reply: { parse: parseReply, print: printReply },
})
