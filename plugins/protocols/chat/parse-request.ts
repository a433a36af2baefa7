import { GatewayError } from '../../../engine/index.ts'
import { defined, isObject, requireChosen } from '../../../engine/kit.ts'
import type { Format, GenerateRequest, Json, JsonObject, Rest } from '../../../engine/index.ts'
import { parseMessages } from './parse-messages.ts'
import { parseToolChoice, parseTools } from './tools.ts'
import { protocol } from './wire.ts'
import type { ChatBody } from './wire.ts'

/** Fields that have their own field in the neutral form, or belong to the gateway (`routing`). */
const known = new Set([
  'model',
  'messages',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'web_search_options',
  'parallel_tool_calls',
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'n',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'verbosity',
  'response_format',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'metadata',
  'store',
  'stream',
  'stream_options',
  'routing',
])

/** Parses a validated body into a neutral request. Throws `unsupported_parameter` for `n` above 1. */
export function parse(given: JsonObject): GenerateRequest {
  const body = given as ChatBody
  if (typeof body.n === 'number' && body.n > 1) {
    throw new GatewayError('unsupported_parameter', { param: 'n', reason: 'one choice is all that can be translated' })
  }
  const format = parseFormat(body)
  const tools = parseTools(body)
  const toolChoice = parseToolChoice(body)
  requireChosen(tools, toolChoice, protocol)
  return defined({
    items: parseMessages(body.messages),
    tools,
    toolChoice,
    // The legacy `functions` field allows one call per turn.
    parallelTools: body.functions && !body.tools ? false : (body.parallel_tool_calls ?? undefined),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    stop: typeof body.stop === 'string' ? [body.stop] : (body.stop ?? undefined),
    seed: body.seed ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    logprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : undefined,
    reasoning: typeof body.reasoning_effort === 'string' ? { effort: body.reasoning_effort } : undefined,
    format,
    verbosity: body.verbosity ?? undefined,
    user: body.safety_identifier ?? body.user ?? undefined,
    cacheKey: body.prompt_cache_key ?? undefined,
    serviceTier: body.service_tier ?? undefined,
    metadata: body.metadata ?? undefined,
    store: body.store ?? undefined,
    stream: body.stream === true,
    streamUsage: body.stream_options?.include_usage ?? undefined,
    rest: restOf(body, format),
  })
}

function parseFormat({ response_format: format }: ChatBody): Format | undefined {
  switch (format?.type) {
    case 'text':
      return { type: 'text' }
    case 'json_object':
      return { type: 'json' }
    case 'json_schema': {
      const { name, description, schema, strict } = format['json_schema'] as JsonObject
      return defined({
        type: 'schema' as const,
        name: typeof name === 'string' ? name : undefined,
        description: typeof description === 'string' ? description : undefined,
        schema: isObject(schema) ? schema : {},
        strict: typeof strict === 'boolean' ? strict : undefined,
      })
    }
    default:
      return undefined
  }
}

function restOf(body: ChatBody, format: Format | undefined): Rest | undefined {
  const fields: [string, Json][] = []
  for (const name of Object.keys(body)) {
    const value = (body as JsonObject)[name] ?? null
    if (!known.has(name) && value !== null) fields.push([name, value])
  }
  if (body.response_format && !format) fields.push(['response_format', body.response_format])
  if (body.user && body.safety_identifier) fields.push(['user', body.user])
  if (body.stream_options) {
    const { include_usage: _usage, ...options } = body.stream_options
    if (Object.keys(options).length > 0) fields.push(['stream_options', options])
  }
  return fields.length > 0 ? { protocol, fields: Object.fromEntries(fields) } : undefined
}
