import type { Frame, JsonObject, Metered } from '../../../engine/index.ts'
import { defineCodec } from '../../../engine/index.ts'
import { isObject, parsedObject, samplingTrait } from '../../../engine/kit.ts'
import { dialect, errorFrame, streamFailure } from './errors.ts'
import { frame } from './frames.ts'
import { parse, searches } from './parse-request.ts'
import { print } from './print-request.ts'
import { usualOutput } from './print-thinking.ts'
import { MessagesParser } from './parse-events.ts'
import { amend, keeper } from './relay.ts'
import { parseReply, printReply } from './reply.ts'
import { schema } from './schema.ts'
import { messagesTraits } from './traits.ts'
import { parseStop } from './stop.ts'
import { mergeUsage, parseUsage } from './usage.ts'
import { protocol, verbatim } from './wire.ts'
import { MessagesPrinter } from './print-events.ts'

/** The messages protocol, in the versions 2023-06-01 and 2026-10-21. */
export default defineCodec<'generate'>({
  protocol,
  operation: 'generate',
  summary: 'Conversations as messages of content blocks.',
  address: { path: '/messages' },
  idHeader: 'request-id',
  // platform.claude.com/docs/en/api/rate-limits
  answerHeaders: ['requests', 'tokens'].flatMap((counts) =>
    ['limit', 'remaining', 'reset'].map((what) => `anthropic-ratelimit-${counts}-${what}`),
  ),
  clientHeader: 'anthropic-version',
  headers: ['anthropic-*', 'x-stainless-*'],
  content: 'json',
  schema,
  traits: {
    ...Object.fromEntries(
      Object.entries(messagesTraits).map(([word, { default: usual, values, summary }]) => [
        word,
        { enum: [...values], default: usual, description: summary },
      ]),
    ),
    sampling: samplingTrait,
  },
  instruct,
  outputLimits: ['max_tokens'],
  // platform.claude.com/docs/en/about-claude/pricing
  choices: [
    { path: 'fallbacks[]', chooses: 'model', answers: true },
    { path: 'fallbacks[].model', chooses: 'model', answers: true },
    { path: 'fallbacks[].speed', chooses: 'tier', free: ['standard'] },
    { path: 'fallbacks[].service_tier', chooses: 'tier', free: ['auto', 'standard_only'] },
    { path: 'fallbacks[].inference_geo', chooses: 'tier', free: ['global', 'not_available'] },
    { path: 'tools[].model', chooses: 'model' },
    { path: 'service_tier', chooses: 'tier', free: ['auto', 'default', 'standard_only'], translated: 'service_tier' },
    { path: 'speed', chooses: 'tier', free: ['standard'] },
    { path: 'inference_geo', chooses: 'tier', free: ['global', 'not_available'] },
    { path: 'tools[].type', chooses: 'extra', values: ['web_search*'], price: 'searches', translated: 'web_search' },
    { path: 'tools[].type', chooses: 'extra', values: ['code_execution*'] },
    { path: 'tools[].type', chooses: 'extra', values: ['advisor*'], billedBy: 'model' },
  ],
  head: (body) => ({
    model: typeof body.model === 'string' ? body.model : '',
    stream: body.stream === true,
    background: false,
  }),
  error: dialect,
  meter: {
    reply: (body) => (isObject(body) ? metered(body) : {}),
    stream: (first, last) => {
      const start = eventOf(first.find((frame) => isNamed(frame, 'message_start')))
      const message = isObject(start?.message) ? start.message : {}
      const updates = last.filter((frame) => isNamed(frame, 'message_delta')).map(eventOf)
      const total = updates.reduce((known: JsonObject, update) => updated(known, update), message)
      return { ...metered(total), complete: last.some((frame) => isNamed(frame, 'message_stop')) }
    },
    said: (frame) => {
      if (!isNamed(frame, 'content_block_delta')) return 0
      const delta = eventOf(frame)?.delta
      if (!isObject(delta)) return 0
      const words = delta.text ?? delta.thinking ?? delta.partial_json
      return typeof words === 'string' ? Buffer.byteLength(words) : 0
    },
  },
  relay: { amend },
  failed: (frame) => {
    if (frame.event !== 'error' && !frame.data.includes('"error"')) return undefined
    const event = eventOf(frame) ?? {}
    const told = event.type === 'error' || (event.type === undefined && isObject(event.error))
    return told || frame.event === 'error' ? streamFailure(event) : undefined
  },
  keepalive: frame({ type: 'ping' }),
  fail: (failure, { id }) => [errorFrame(failure, id)],
  keeper,
  request: {
    parse,
    print,
    searches,
    verbatim: verbatim.request,
    usualOutput,
    assumes: { max_output_tokens: `an answer may have ${usualOutput} tokens where a client does not say how many` },
  },
  reply: { parse: parseReply, print: printReply, verbatim: verbatim.reply },
  events: {
    parser: (restore) => new MessagesParser(restore),
    printer: (asked) => new MessagesPrinter(asked),
  },
})

function instruct(body: JsonObject, text: string, at: 'before' | 'after'): JsonObject {
  const { system = null } = body
  if (system === null || system === '') return { ...body, system: text }
  if (typeof system === 'string')
    return { ...body, system: at === 'before' ? `${text}\n\n${system}` : `${system}\n\n${text}` }
  if (!Array.isArray(system)) return body
  return { ...body, system: system.toSpliced(at === 'before' ? 0 : system.length, 0, { type: 'text', text }) }
}

function metered(message: JsonObject): Metered {
  const usage = parseUsage(message.usage)
  const stop = parseStop(message.stop_reason)
  return {
    ...(usage ? { usage } : {}),
    ...(typeof message.model === 'string' ? { model: message.model } : {}),
    ...(stop ? { stop } : {}),
    ...(typeof message.id === 'string' ? { id: message.id } : {}),
  }
}

function updated(message: JsonObject, update: JsonObject | undefined): JsonObject {
  const delta = isObject(update?.delta) ? update.delta : {}
  return { ...message, ...delta, usage: mergeUsage(message.usage, update?.usage) }
}

/** Whether a frame has this type: by its event name, or, without a name, by its data. */
function isNamed(frame: Frame, type: string): boolean {
  if (frame.event !== undefined) return frame.event === type
  return frame.data.includes(`"${type}"`) && eventOf(frame)?.type === type
}

function eventOf(frame: Frame | undefined): JsonObject | undefined {
  return frame && parsedObject(frame.data)
}
