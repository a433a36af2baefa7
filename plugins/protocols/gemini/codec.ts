import type {
  Amendment,
  Asked,
  Choice,
  Envelope,
  EventPrinter,
  Frame,
  GenerateEvent,
  JsonObject,
  Loss,
  Offer,
} from '../../../engine/index.ts'
import { defineCodec } from '../../../engine/index.ts'
import { amendedSampling, isObject, parsedJson, samplingTrait } from '../../../engine/kit.ts'
import { dialect, errorFrame, streamFailure } from './errors.ts'
import { located } from './located.ts'
import { meter } from './meter.ts'
import { GeminiParser } from './parse-events.ts'
import { parse, searches } from './parse-request.ts'
import { AnswerPrinter, chunk } from './print-answer.ts'
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
  outputLimits: inConfig('maxOutputTokens', 'max_output_tokens'),
  answerCounts: inConfig('candidateCount', 'candidate_count'),
  choices: choices(),
  head: (body) => ({
    model: typeof body.model === 'string' ? body.model : '',
    stream: body.stream === true,
    background: false,
  }),
  traits: {
    ...Object.fromEntries(
      Object.entries(geminiTraits).map(([word, { default: usual, values, summary }]) => [
        word,
        { enum: [...values], default: usual, description: summary },
      ]),
    ),
    sampling: samplingTrait,
  },
  relay: { amend },
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

const sampling = [
  ['temperature', 'temperature'],
  ['topP', 'topP'],
  ['topP', 'top_p'],
  ['topK', 'topK'],
  ['topK', 'top_k'],
] as const

/** Leaves out the sampling that the model refuses. */
function amend({ body }: Pick<Envelope, 'body'>, offer: Offer, model: string): Amendment | undefined {
  for (const name of ['generationConfig', 'generation_config']) {
    const config = body[name]
    const amended = isObject(config) ? amendedSampling(config, undefined, { offer, model }, sampling) : undefined
    if (isObject(config) && amended) return { ...amended, fields: { [name]: { ...config, ...amended.fields } } }
  }
  return undefined
}

/** The paths of a field of the configuration in all its spellings. */
function inConfig(...spellings: readonly string[]): readonly string[] {
  return ['generationConfig', 'generation_config'].flatMap((config) => spellings.map((field) => `${config}.${field}`))
}

/** Both spellings of a field are accepted (ai.google.dev/gemini-api/docs/pricing). */
function choices(): readonly Choice[] {
  return [
    ...['serviceTier', 'service_tier'].map((path): Choice => ({
      path,
      chooses: 'tier',
      free: ['standard'],
      translated: 'service_tier',
    })),
    ...['googleSearch', 'google_search', 'googleSearchRetrieval', 'google_search_retrieval'].map((tool): Choice => ({
      path: `tools[].${tool}`,
      chooses: 'extra',
      price: 'searches',
      translated: 'web_search',
    })),
    ...['googleMaps', 'google_maps', 'enterpriseWebSearch', 'enterprise_web_search', 'fileSearch', 'file_search'].map(
      (tool): Choice => ({ path: `tools[].${tool}`, chooses: 'extra' }),
    ),
    ...['generationConfig', 'generation_config'].flatMap((config) =>
      ['responseModalities', 'response_modalities'].flatMap((field): Choice[] => [
        { path: `${config}.${field}[]`, chooses: 'extra', values: ['AUDIO', 'audio'], price: 'output_audio' },
        { path: `${config}.${field}[]`, chooses: 'extra', values: ['IMAGE', 'image'], price: 'output_image' },
      ]),
    ),
  ]
}

function instruct(body: JsonObject, text: string, at: 'before' | 'after'): JsonObject {
  const name = Object.hasOwn(body, 'system_instruction') ? 'system_instruction' : 'systemInstruction'
  const given = body[name] ?? {}
  if (!isObject(given) || !Array.isArray(given.parts ?? [])) return body
  const parts = (given.parts ?? []) as readonly JsonObject[]
  return { ...body, [name]: { ...given, parts: parts.toSpliced(at === 'before' ? 0 : parts.length, 0, { text }) } }
}

/** Prints an answer for a client: each chunk is a `GenerateContentResponse`, and the stream has no last event. */
class GeminiPrinter implements EventPrinter<GenerateEvent> {
  readonly #answer: AnswerPrinter
  #done = false

  constructor(asked: Asked) {
    this.#answer = new AnswerPrinter(asked)
  }

  get losses(): readonly Loss[] {
    return this.#answer.losses
  }

  *print(event: GenerateEvent): Iterable<Frame> {
    if (this.#done) return
    if (event.type === 'failure') {
      this.#done = true
      yield errorFrame(event.failure)
      return
    }
    for (const addition of this.#answer.print(event)) {
      this.#done = addition.end !== undefined
      yield { data: JSON.stringify(chunk(this.#answer.head, addition)) }
    }
  }
}
