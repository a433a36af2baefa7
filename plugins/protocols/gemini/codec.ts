import type { Frame, JsonObject } from '../../../engine/index.ts'
import { defineCodec } from '../../../engine/index.ts'
import { isObject, parsedJson } from '../../../engine/kit.ts'
import { dialect, errorFrame, streamFailure } from './errors.ts'
import { located } from './located.ts'
import { meter } from './meter.ts'
import { GeminiParser } from './parse-events.ts'
import { parse, searches } from './parse-request.ts'
import { GeminiPrinter } from './print-events.ts'
import { print } from './print-request.ts'
import { parseReply, printReply } from './reply.ts'
import { schema } from './schema.ts'
import { geminiTraits, traitsOf } from './traits.ts'
import { protocol, verbatim } from './wire.ts'

/** The protocol of Gemini's `generateContent` (ai.google.dev/api/generate-content). */
export default defineCodec<'generate'>({
  protocol,
  operation: 'generate',
  summary: 'Conversations as contents of parts; the model stands in the address.',
  address: {
    path: '/models/{model}:generateContent',
    streamed: '/models/{model}:streamGenerateContent?alt=sse',
    prefix: '/v1beta',
  },
  clientHeader: 'x-goog-api-key',
  headers: ['x-goog-*'],
  content: 'json',
  schema,
  located,
  instruct,
  outputLimits: ['generationConfig', 'generation_config'].flatMap((config) =>
    ['maxOutputTokens', 'max_output_tokens'].map((limit) => `${config}.${limit}`),
  ),
  head: (body) => ({
    model: typeof body.model === 'string' ? body.model : '',
    stream: body.stream === true,
    background: false,
  }),
  traits: Object.fromEntries(
    Object.entries(geminiTraits).map(([word, { default: usual, values, summary }]) => [
      word,
      { enum: [...values], default: usual, description: summary },
    ]),
  ),
  error: dialect,
  failed: (frame: Frame) => (frame.data.includes('"error"') ? streamFailure(parsedJson(frame.data)) : undefined),
  meter,
  fail: (failure) => [errorFrame(failure)],
  request: {
    parse,
    print,
    searches,
    verbatim: verbatim.request,
    inlines: (part, { traits }) => 'source' in part && part.source.kind === 'url' && !traitsOf(traits).file_urls,
  },
  reply: { parse: parseReply, print: printReply, verbatim: verbatim.reply },
  events: {
    parser: (restore) => new GeminiParser(restore),
    printer: (asked) => new GeminiPrinter(asked),
  },
})

function instruct(body: JsonObject, text: string, at: 'before' | 'after'): JsonObject {
  const name = Object.hasOwn(body, 'system_instruction') ? 'system_instruction' : 'systemInstruction'
  const given = body[name] ?? {}
  if (!isObject(given) || !Array.isArray(given.parts ?? [])) return body
  const parts = (given.parts ?? []) as readonly JsonObject[]
  return { ...body, [name]: { ...given, parts: parts.toSpliced(at === 'before' ? 0 : parts.length, 0, { text }) } }
}
