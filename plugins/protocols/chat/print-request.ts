import { createHash } from 'node:crypto'
import { GatewayError } from '../../../engine/index.ts'
import { defined, Losses, takenSampling, toolNames } from '../../../engine/kit.ts'
import type { Sampled } from '../../../engine/kit.ts'
import type { Format, GenerateRequest, JsonObject, PrintTarget, Printed } from '../../../engine/index.ts'
import { printReasoning } from './effort.ts'
import { printMessages } from './print-messages.ts'
import { printTools } from './tools.ts'
import { traitsOf } from './traits.ts'
import type { MessagePrinting } from './turn.ts'
import { protocol } from './wire.ts'

/** Most characters of a tool's name, and of an identifier of a user or a cache. */
const nameLimit = 64
const tiers = new Set(['auto', 'default', 'flex', 'scale', 'priority', 'fast'])

/** Prints a neutral request as a body for the upstream of `target`. */
export function print(request: GenerateRequest, { model, offer, origin }: PrintTarget): Printed<JsonObject> {
  const { tools, toolChoice, parallelTools } = request
  // Use the client's name for the conversation; the upstream's own error would name `messages`.
  if (request.items.length === 0)
    throw new GatewayError('invalid_value', { param: 'input', reason: 'it must not be empty' })
  const printing = {
    traits: traitsOf(offer.traits),
    losses: new Losses(protocol),
    names: toolNames(tools, nameLimit),
    origin,
  }
  const { fields, instruction } = printFormat(request.format, printing)
  const messages = printMessages(request.items, printing)
  const { stream_options: options, ...rest } = printing.losses.own(request.rest)
  const body = defined({
    ...rest,
    model,
    messages: instruction === undefined ? messages : instructed(messages, instruction, printing),
    ...printTools(tools, toolChoice, parallelTools, printing),
    ...fields,
    ...printSampling(request, { offer, model }, printing),
    ...printReasoning(request.reasoning, printing.traits, printing.losses),
    ...printAccount(request, printing),
    ...printStream(request, options as JsonObject | undefined, printing),
  })
  const customs = printing.traits.custom_tools ? 'as-customs' : 'as-functions'
  return { body, losses: printing.losses.list(), restore: printing.names.restore(customs) }
}

function printSampling(request: GenerateRequest, sampled: Sampled, printing: MessagePrinting): JsonObject {
  const { traits, losses } = printing
  const { temperature, topP, topK } = takenSampling(request, sampled, losses)
  const logprobs = taken(request.logprobs, traits.logprobs, 'logprobs', printing)
  return {
    [traits.max_tokens_field]: request.maxOutputTokens,
    temperature,
    top_p: topP,
    top_k: taken(topK, traits.top_k, 'top_k', printing),
    stop: request.stop && request.stop.length > 0 ? request.stop : undefined,
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
    logprobs: logprobs === undefined ? undefined : true,
    top_logprobs: logprobs === 0 ? undefined : logprobs,
    verbosity: taken(request.verbosity, traits.verbosity, 'verbosity', printing),
  }
}

function printAccount(request: GenerateRequest, printing: MessagePrinting): JsonObject {
  const { traits } = printing
  // Without a cache key, the prompts of a user still share one cache.
  const cacheKey = request.cacheKey ?? (traits.prompt_cache_key ? request.user : undefined)
  const tier = request.serviceTier === 'standard_only' ? 'default' : request.serviceTier
  const store = request.store === true ? true : undefined
  return {
    [traits.user_field || 'user']: taken(identifier(request.user), traits.user_field !== false, 'user', printing),
    prompt_cache_key: taken(identifier(cacheKey), traits.prompt_cache_key, 'prompt_cache_key', printing),
    service_tier: taken(tier, traits.service_tier && tiers.has(tier ?? ''), 'service_tier', printing),
    metadata: taken(request.metadata, traits.metadata, 'metadata', printing),
    store: taken(store, traits.metadata, 'store', printing),
  }
}

function printStream(
  { stream }: GenerateRequest,
  own: JsonObject | undefined,
  { traits }: MessagePrinting,
): JsonObject {
  if (!stream) return {}
  const options = traits.stream_usage ? { ...own, include_usage: true } : own
  return { stream: true, stream_options: options }
}

/** The value if the upstream accepts the field; otherwise a loss. */
function taken<T>(value: T | undefined, takes: boolean, field: string, { losses }: MessagePrinting): T | undefined {
  if (value === undefined || takes) return value
  losses.add(field, 'the provider does not take it')
  return undefined
}

/** `response_format`, or an instruction in its place if the upstream has no schemas. */
function printFormat(
  format: Format | undefined,
  { traits, losses }: MessagePrinting,
): { fields: JsonObject; instruction?: string } {
  if (!format || format.type === 'text') return { fields: {} }
  if (format.type === 'json') return { fields: { response_format: { type: 'json_object' } } }
  const { name = 'answer', description, schema, strict } = format
  if (traits.json_schema) {
    const printed = defined({ name, description, schema, strict: traits.strict ? strict : undefined })
    return { fields: { response_format: { type: 'json_schema', json_schema: printed } } }
  }
  losses.add('response_format', 'the schema became an instruction')
  return {
    fields: { response_format: { type: 'json_object' } },
    instruction: `Answer with JSON that matches this JSON Schema:\n${JSON.stringify(schema)}`,
  }
}

/** The messages with one more system message, after those at the beginning. */
function instructed(messages: readonly JsonObject[], instruction: string, { traits }: MessagePrinting): JsonObject[] {
  const first = messages.findIndex(({ role }) => role !== traits.system_role)
  return messages.toSpliced(first < 0 ? messages.length : first, 0, { role: traits.system_role, content: instruction })
}

/** An identifier of at most 64 characters; a longer one becomes its hash, the same each time. */
function identifier(text: string | undefined): string | undefined {
  if (text === undefined || text.length <= nameLimit) return text
  return createHash('sha256').update(text).digest('hex')
}
