import { defineCodec } from '../../../engine/index.ts'
import { isObject, parsedObject } from '../../../engine/kit.ts'
import type { Failure, Frame, JsonObject } from '../../../engine/index.ts'
import { error, streamFailure } from './errors.ts'
import { meterReply, meterStream, said } from './meter.ts'
import { parse } from './parse-request.ts'
import { inlines } from './parts.ts'
import { print } from './print-request.ts'
import { ChatParser } from './parse-events.ts'
import { amend, close, hides } from './relay.ts'
import { parseReply, printReply } from './reply.ts'
import { schema } from './schema.ts'
import { protocol } from './wire.ts'
import { chatTraits } from './traits.ts'
import { searches } from './web-search.ts'
import { ChatPrinter, fail } from './print-events.ts'

export { chatTraits } from './traits.ts'

/** Chat completions, for clients and for upstreams. The traits of an offer describe its upstream (`chatTraits`). */
export default defineCodec<'generate'>({
  protocol,
  operation: 'generate',
  summary: 'Chat completions: messages in, one assistant message out, whole or as chunks.',
  address: { path: '/chat/completions' },
  content: 'json',
  headers: ['openai-*', 'x-stainless-*'],
  schema,
  traits: chatTraits,
  instruct,
  outputLimits: ['max_completion_tokens', 'max_tokens'],
  answerCounts: ['n'],
  choices: [
    { path: 'service_tier', chooses: 'tier', free: ['auto', 'default', 'standard_only'], translated: 'service_tier' },
    { path: 'web_search_options', chooses: 'extra', price: 'searches', translated: 'web_search' },
    { path: 'modalities[]', chooses: 'extra', values: ['audio'], price: 'output_audio' },
    { path: 'modalities[]', chooses: 'extra', values: ['image'], price: 'output_image' },
  ],
  head: ({ model, stream }) => ({ model: model as string, stream: stream === true, background: false }),
  error,
  meter: { reply: meterReply, stream: meterStream, said },
  relay: { amend, hides },
  failed,
  fail,
  close,
  request: { parse, print, inlines, searches, asSent: ['store'], verbatim: new Set(['parameters', 'schema']) },
  reply: { parse: parseReply, print: printReply },
  events: { parser: (restore, offer) => new ChatParser(restore, offer), printer: (asked) => new ChatPrinter(asked) },
})

/** The instructions of a request are its leading system and developer messages. */
function instruct(body: JsonObject, text: string, at: 'before' | 'after'): JsonObject {
  const { messages } = body
  if (!Array.isArray(messages)) return body
  const first = messages.findIndex((message) => !isObject(message) || !instructing.has(message['role']))
  const place = at === 'before' ? 0 : first < 0 ? messages.length : first
  return { ...body, messages: messages.toSpliced(place, 0, { role: 'system', content: text }) }
}

const instructing: ReadonlySet<unknown> = new Set(['system', 'developer'])

function failed({ event, data }: Frame): Failure | undefined {
  if (event !== 'error' && !data.includes('"error"')) return undefined
  const chunk = parsedObject(data)
  return chunk && streamFailure(chunk, event)
}
