import { defineUpstreamCodec } from '../../../engine/index.ts'
import { error, failed } from './errors.ts'
import { ConverseParser, parseReply } from './parse-events.ts'
import { inlines } from './print-parts.ts'
import { print } from './print-request.ts'
import { converseTraits } from './traits.ts'
import { protocol, verbatim } from './wire.ts'

/** Converse and ConverseStream of Amazon Bedrock (docs.aws.amazon.com/bedrock, API_runtime_Converse). */
export default defineUpstreamCodec<'generate'>({
  protocol,
  operation: 'generate',
  summary: 'Converse: conversations with the models of many vendors.',
  address: { path: '/model/{model}/converse', streamed: '/model/{model}/converse-stream', prefix: '' },
  framing: 'aws-event-stream',
  traits: converseTraits,
  error,
  failed,
  request: { print, inlines },
  reply: { parse: parseReply, verbatim },
  events: { parser: (restore) => new ConverseParser(restore) },
})
