import { defineCodec } from '../../../engine/index.ts'
import { error, failed } from './failure.ts'
import { meter } from './meter.ts'
import { parse } from './parse.ts'
import { print } from './print.ts'
import { Reader } from './reader.ts'
import { parseReply, printReply } from './reply.ts'
import { schema } from './schema.ts'
import { protocol, text } from './values.ts'
import { fail, Writer } from './writer.ts'

/** The responses protocol: `POST /v1/responses`, whole or as a stream of server-sent events. */
export default defineCodec({
  protocol,
  operation: 'generate',
  summary: 'The responses API: items in, items out, whole or streamed.',
  schema,
  head(body) {
    const background = body['background'] === true
    return { model: text(body['model']) ?? '', stream: body['stream'] === true && !background, background }
  },
  error,
  meter,
  failed,
  fail,
  request: { parse, print },
  reply: { parse: parseReply, print: printReply },
  events: {
    reader: (restore) => new Reader(restore),
    writer: (asked) => new Writer(asked, 'stream'),
  },
})
