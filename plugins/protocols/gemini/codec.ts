import type { Frame } from '../../../engine/index.ts'
import { defineUpstreamCodec } from '../../../engine/index.ts'
import { parsedJson } from '../../../engine/kit.ts'
import { dialect, streamFailure } from './errors.ts'
import { GeminiParser } from './parse-events.ts'
import { print } from './print-request.ts'
import { parseReply } from './reply.ts'
import { geminiTraits, traitsOf } from './traits.ts'
import { protocol, verbatim } from './wire.ts'

/** The protocol of Gemini's `generateContent` (ai.google.dev/api/generate-content). */
export default defineUpstreamCodec<'generate'>({
  protocol,
  operation: 'generate',
  summary: 'Conversations as contents of parts; the model stands in the address.',
  address: {
    path: '/models/{model}:generateContent',
    streamed: '/models/{model}:streamGenerateContent?alt=sse',
    prefix: '/v1beta',
  },
  traits: Object.fromEntries(
    Object.entries(geminiTraits).map(([word, { default: usual, values, summary }]) => [
      word,
      { enum: [...values], default: usual, description: summary },
    ]),
  ),
  error: dialect,
  failed: (frame: Frame) => (frame.data.includes('"error"') ? streamFailure(parsedJson(frame.data)) : undefined),
  request: {
    print,
    inlines: (part, { traits }) => 'source' in part && part.source.kind === 'url' && !traitsOf(traits).file_urls,
  },
  reply: { parse: parseReply, verbatim: verbatim.reply },
  events: { parser: (restore) => new GeminiParser(restore) },
})
