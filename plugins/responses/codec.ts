import { defineCodec } from '../../engine/index.ts'
import type { Choice } from '../../engine/index.ts'
import { samplingTrait } from '../../engine/kit.ts'
import { amend } from './amend.ts'
import { concealed } from './concealed.ts'
import { error, failed } from './errors.ts'
import { Keeper } from './keeper.ts'
import { meter } from './meter.ts'
import { parse } from './parse-request.ts'
import { print } from './print-request.ts'
import { inlines } from './print-parts.ts'
import { ResponsesParser } from './parse-events.ts'
import { parseReply, printReply } from './reply.ts'
import { schema } from './schema.ts'
import { responsesTraits } from './traits.ts'
import { socket } from './socket.ts'
import { object, protocol, text } from './values.ts'
import { searches } from './web-search.ts'
import { ResponsesPrinter } from './print-events.ts'

/** Where a body has tools: also in items that bring more of them, and in groups. */
const toolPlaces = ['tools[]', 'tools[].tools[]', 'input[].tools[]', 'input[].tools[].tools[]']

function toolChoices(tool: string): readonly Choice[] {
  return [
    { path: `${tool}.model`, chooses: 'model' },
    { path: `${tool}.type`, chooses: 'extra', values: ['image_generation'], billedBy: 'model' },
    { path: `${tool}.type`, chooses: 'extra', values: ['web_search*'], price: 'searches', translated: 'web_search' },
    { path: `${tool}.type`, chooses: 'extra', values: ['file_search', 'code_interpreter', 'x_search', 'shell'] },
  ]
}

/** The responses protocol: `POST /v1/responses`, whole or as a stream of server-sent events. */
export default defineCodec({
  protocol,
  operation: 'generate',
  summary: 'The responses API: items in, items out, whole or streamed.',
  address: { path: '/responses' },
  schema,
  traits: {
    ...Object.fromEntries(
      Object.entries(responsesTraits).map(([word, description]) => [
        word,
        { type: 'boolean', default: true, description },
      ]),
    ),
    sampling: samplingTrait,
    stores: {
      type: 'boolean',
      default: false,
      description: 'Stores responses, so that a client can continue a conversation by the id of its last response.',
    },
  },
  outputLimits: ['max_output_tokens'],
  choices: [
    { path: 'service_tier', chooses: 'tier', free: ['auto', 'default', 'standard_only'], translated: 'service_tier' },
    ...toolPlaces.flatMap(toolChoices),
  ],
  instruct(body, text, at) {
    const { instructions = null } = body
    if (instructions === null || instructions === '') return { ...body, instructions: text }
    if (typeof instructions !== 'string') return body
    return { ...body, instructions: at === 'before' ? `${text}\n\n${instructions}` : `${instructions}\n\n${text}` }
  },
  head(body) {
    const background = body['background'] === true
    return { model: text(body['model']) ?? '', stream: body['stream'] === true && !background, background }
  },
  check(body) {
    const usage = object(body['stream_options'])?.['include_usage'] ?? null
    if (usage === null) return undefined
    return { param: 'stream_options.include_usage', reason: 'usage is always reported and cannot be asked for' }
  },
  error,
  meter,
  relay: { amend, shown: concealed },
  failed,
  keeper: (asked) => new Keeper(asked),
  socket,
  request: { searches, parse, print, inlines, asSent: ['store'], verbatim: new Set(['parameters', 'schema']) },
  reply: { parse: parseReply, print: printReply },
  events: {
    parser: (restore) => new ResponsesParser(restore),
    printer: (asked) => new ResponsesPrinter(asked, 'stream'),
  },
})
