import { createHash } from 'node:crypto'
import type { Format, GenerateRequest, JsonObject, Printed, PrintTarget } from '../../../engine/index.ts'
import { Losses, takenSampling, toolNames } from '../../../engine/kit.ts'
import type { Sampled } from '../../../engine/kit.ts'
import { systemBlocks, turns } from '../turns.ts'
import { answerSchema } from './answer-schema.ts'
import { wantsMarks, withMarks } from './cache-marks.ts'
import { printThinking, unthought } from './print-thinking.ts'
import { printTools } from './print-tools.ts'
import { blocksOf } from './print-turns.ts'
import { cacheControl } from './printing.ts'
import type { Printing } from './printing.ts'
import { traitsOf } from './traits.ts'
import { protocol } from './wire.ts'

/** Most characters of a tool's name and of `metadata.user_id`. */
const nameLimit = 128
const userLimit = 256

/** Prints a request body for an upstream of this protocol, with the traits of `messagesTraits`. */
export function print(request: GenerateRequest, target: PrintTarget): Printed<JsonObject> {
  const names = toolNames(request.tools, nameLimit)
  const losses = new Losses(protocol)
  const printing: Printing = { target, traits: traitsOf(target.offer.traits), names, losses }
  const blocks = blocksOf(printing)
  const said = turns(request, blocks)
  const tools = printTools(request, printing)
  const forced = tools.tool_choice?.type === 'any' || tools.tool_choice?.type === 'tool'
  const { effort, ...thinking } = printThinking(request, { forced, unthought: unthought(said) }, printing)
  const format = answerFormat(request, printing)
  const stops = stopSequences(request)
  const system = systemText([...systemBlocks(request, blocks), ...format.instruction])
  const rest = ownRest(request, printing)
  const output = {
    ...(effort === undefined ? {} : { effort }),
    ...format.field,
    ...(rest.output_config as JsonObject | undefined),
  }
  const metadata = { ...user(request), ...(rest.metadata as JsonObject | undefined) }
  const caches = wantsMarks(request, target, printing.traits)
  unsaid(request, caches, losses)
  const prompt = {
    ...(system === undefined ? {} : { system }),
    messages: said.map(({ role, blocks }) => ({ role, content: blocks })),
    ...(tools.tools ? { tools: tools.tools } : {}),
  }
  return {
    body: {
      ...rest,
      model: target.model,
      ...thinking,
      ...(caches && !rest.cache_control ? withMarks(prompt) : prompt),
      ...(tools.tool_choice ? { tool_choice: tools.tool_choice } : {}),
      ...sampling(request, thinking.thinking, printing),
      ...(stops.taken.length > 0 ? { stop_sequences: stops.taken } : {}),
      ...(Object.keys(output).length > 0 ? { output_config: output } : {}),
      ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
      ...serviceTier(request, losses),
      ...(request.stream ? { stream: true } : {}),
    },
    losses: losses.list(),
    ...(stops.refused.length > 0 ? { cuts: stops.refused } : {}),
    restore: names.restore('as-functions'),
  }
}

/** A single plain text as a string, other content as blocks. */
function systemText(blocks: readonly JsonObject[]): string | readonly JsonObject[] | undefined {
  const [first] = blocks
  if (!first) return undefined
  const plain = blocks.length === 1 && first.type === 'text' && Object.keys(first).length === 2
  return plain ? (first.text as string) : blocks
}

/** The format of the answer: a field if the upstream has one that can say it, otherwise an instruction after the system text. */
function answerFormat(
  { format }: GenerateRequest,
  { traits, losses }: Printing,
): { readonly field: JsonObject; readonly instruction: readonly JsonObject[] } {
  if (!format || format.type === 'text') return { field: {}, instruction: [] }
  const schema = format.type === 'schema' && traits.json_schema ? answerSchema(format.schema, losses) : undefined
  if (format.type !== 'schema' || !schema)
    return { field: {}, instruction: [{ type: 'text', text: formatInstruction(format, losses) }] }
  if (format.description !== undefined) losses.add('response_format.description', 'formats have no description here')
  return { field: { format: { type: 'json_schema', schema } }, instruction: [] }
}

/** The sentence that asks for an answer in a format to which the upstream cannot be held. */
export function formatInstruction(format: Exclude<Format, { readonly type: 'text' }>, losses: Losses): string {
  losses.add('response_format', 'the upstream can only be asked for JSON, not held to it')
  return format.type === 'json'
    ? 'Answer with one JSON object and nothing else.'
    : `Answer with JSON that matches this JSON Schema, and with nothing else:\n${JSON.stringify(format.schema)}`
}

/** `temperature`, `top_p` and `top_k`, as far as the upstream takes them beside `thinking`. */
export function sampling(
  request: GenerateRequest,
  thinking: JsonObject | undefined,
  { target, losses }: { readonly target: Sampled; readonly losses: Losses },
): { readonly temperature?: number; readonly top_p?: number; readonly top_k?: number } {
  const { temperature, topP, topK } = takenSampling(request, target, losses)
  if (thinking?.type === 'enabled' || thinking?.type === 'adaptive') {
    const refused = 'it is refused beside thinking'
    if (temperature !== undefined && temperature !== 1) losses.add('temperature', refused)
    if (topP !== undefined && topP !== 1) losses.add('top_p', refused)
    if (topK !== undefined) losses.add('top_k', refused)
    return {}
  }
  if (temperature !== undefined && temperature > 1) losses.add('temperature', 'it ends at 1')
  return {
    ...(temperature === undefined ? {} : { temperature: Math.min(Math.max(temperature, 0), 1) }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(topK === undefined ? {} : { top_k: topK }),
  }
}

/** Stop sequences, and separately the blank ones, which the upstream rejects. */
export function stopSequences({ stop = [] }: GenerateRequest) {
  const { taken = [], refused = [] } = Object.groupBy(stop, (one) => (/\S/.test(one) ? 'taken' : 'refused'))
  return { taken, refused }
}

function user({ user: id }: GenerateRequest): JsonObject {
  if (id === undefined) return {}
  return { user_id: id.length <= userLimit ? id : createHash('sha256').update(id).digest('hex') }
}

function serviceTier({ serviceTier: tier }: GenerateRequest, losses: Losses): JsonObject {
  if (tier === undefined) return {}
  if (tier === 'auto') return { service_tier: 'auto' }
  if (tier === 'default') return { service_tier: 'standard_only' }
  losses.add('service_tier', 'the upstream has no such tier')
  return {}
}

/** Native fields of the client's body if it uses this protocol; otherwise each of them is a loss. */
function ownRest({ rest }: GenerateRequest, printing: Printing): JsonObject {
  const own = printing.losses.own(rest, { because: `only ${rest?.protocol} knows it` })
  const { cache_control: mark, ...fields } = own
  if (!mark) return fields
  const ttl = (mark as { ttl?: unknown }).ttl
  return { ...fields, ...cacheControl(typeof ttl === 'string' ? { ttl } : {}, printing) }
}

/** Records fields that this protocol lacks, by the client's names. */
export function unsaid(request: GenerateRequest, caches: boolean, losses: Losses): void {
  const fields = {
    seed: request.seed,
    frequency_penalty: request.frequencyPenalty || undefined,
    presence_penalty: request.presencePenalty || undefined,
    logprobs: request.logprobs,
    verbosity: request.verbosity,
    prompt_cache_key: caches ? undefined : request.cacheKey,
    metadata: request.metadata,
    store: request.store || undefined,
  }
  for (const [field, value] of Object.entries(fields))
    if (value !== undefined) losses.add(field, 'the protocol has no such field')
}
