import { defineCodec } from '../../../engine/index.ts'
import type { Failure, Frame } from '../../../engine/index.ts'
import { chunkOf } from './chunk.ts'
import { error, streamFailure } from './error.ts'
import { meterReply, meterStream, said } from './meter.ts'
import { parse } from './parse.ts'
import { inlines } from './parts.ts'
import { print } from './print.ts'
import { ChatReader } from './reader.ts'
import { amend, close, hides } from './relay.ts'
import { parseReply, printReply } from './reply.ts'
import { schema } from './schema.ts'
import { protocol } from './wire.ts'
import { searches } from './web-search.ts'
import { ChatWriter, fail } from './writer.ts'

export { chatTraits } from './traits.ts'

/** Chat completions, for clients and for upstreams. What an upstream takes of it, its offer's traits say (`chatTraits`). */
export default defineCodec<'generate'>({
  protocol,
  operation: 'generate',
  summary: 'Chat completions: messages in, one assistant message out, whole or as chunks.',
  content: 'json',
  schema,
  head: ({ model, stream }) => ({ model: model as string, stream: stream === true, background: false }),
  error,
  meter: { reply: meterReply, stream: meterStream, said },
  relay: { amend, hides },
  failed,
  fail,
  close,
  request: { parse, print, inlines, searches, verbatim: new Set(['parameters', 'schema']) },
  reply: { parse: parseReply, print: printReply },
  events: { reader: (restore, offer) => new ChatReader(restore, offer), writer: (asked) => new ChatWriter(asked) },
})

function failed({ event, data }: Frame): Failure | undefined {
  if (event !== 'error' && !data.includes('"error"')) return undefined
  const chunk = chunkOf(data)
  return chunk && streamFailure(chunk, event)
}
