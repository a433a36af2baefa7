import { defineCodec, isObject, parseJson } from '../../../engine/index.ts'
import type { Failure, Frame } from '../../../engine/index.ts'
import { error, streamFailure } from './error.ts'
import { meterReply, meterStream, said } from './meter.ts'
import { parse } from './parse.ts'
import { inlines } from './parts.ts'
import { print } from './print.ts'
import { ChatReader } from './reader.ts'
import { amend, hides } from './relay.ts'
import { parseReply, printReply } from './reply.ts'
import { schema } from './schema.ts'
import { protocol } from './wire.ts'
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
  request: { parse, print, inlines },
  reply: { parse: parseReply, print: printReply },
  events: { reader: (restore) => new ChatReader(restore), writer: (asked) => new ChatWriter(asked) },
})

function failed({ event, data }: Frame): Failure | undefined {
  if (event !== 'error' && !data.includes('"error"')) return undefined
  try {
    const chunk: unknown = parseJson(data)
    return isObject(chunk) ? streamFailure(chunk, event) : undefined
  } catch {
    // Not readable is no announcement of a failure; the reader of the stream answers for it.
    return undefined
  }
}
