import { defineCodec } from '../../../../engine/index.ts'
import type { Flaw, JsonObject } from '../../../../engine/index.ts'
import { error } from '../../chat/errors.ts'
import { meter } from '../usage.ts'
import { isBase64 } from '../wire.ts'
import { parse as parseReply, print as printReply } from './reply.ts'
import { parse, print } from './request.ts'
import { schema } from './schema.ts'
import { protocol } from './wire.ts'
import type { Body } from './wire.ts'

/** `POST /v1/mapeval`: the same questions as decisions, as a map about one state. There are no streams. */
export default defineCodec<'decide'>({
  protocol,
  operation: 'decide',
  summary: 'The alternate envelope of decisions: questions and answers as maps, the evidence as one state.',
  address: { path: '/mapeval' },
  schema,
  traits: { images: { type: 'string', description: 'The field for images. Without it, images are dropped.' } },
  check,
  mistaken,
  head: ({ model }) => ({ model: model as string, stream: false, background: false }),
  error,
  meter,
  request: { parse, print, verbatim: new Set(['state', 'questions']) },
  reply: { parse: parseReply, print: printReply },
})

/** Checks that a schema cannot express: images are bare base64. */
function check(body: JsonObject): Flaw | undefined {
  const { images } = body as unknown as Body
  const at = images?.findIndex((image) => !isBase64(image)) ?? -1
  return at < 0 ? undefined : { param: `images[${at}]`, reason: 'images must be base64 alone, no URLs' }
}

/** A hint for a body of the other envelope. */
function mistaken(body: JsonObject): string | undefined {
  if (body['input'] === undefined && !Array.isArray(body['questions'])) return undefined
  return 'This is the decisions envelope; send it to /v1/decisions.'
}
