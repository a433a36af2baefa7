import type { Asked, Json, JsonObject } from '../../engine/index.ts'
import { strictOf } from './tools.ts'
import { boolean, number, object, objects, text } from './values.ts'

/** The id of the response to the exchange `id`. */
export function responseId(id: string): string {
  return `resp_${bare(id)}`
}

/** The id of the item at `index` of the output, with the `prefix` that vendors expect for its type. */
export function itemId(prefix: string, id: string, index: number): string {
  return `${prefix}_${bare(id)}${index.toString(16).padStart(4, '0')}`
}

function bare(id: string): string {
  return id.replaceAll('-', '')
}

/** The start of the exchange, in seconds since 1970: its id is a UUID of version 7 and begins with the time. */
function createdAt(id: string): number {
  const stamp = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id)
  return Math.floor((stamp ? Number.parseInt(`${stamp[1]}${stamp[2]}`, 16) : Date.now()) / 1000)
}

/** The fields of a response object beyond the echo of its request. */
export interface State {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly JsonObject[]
  readonly reason?: string
  readonly error?: JsonObject
  readonly usage?: JsonObject | null
  readonly serviceTier?: string | undefined
  /** The provider's name of the model. */
  readonly model?: string | undefined
}

/** Prints the response object: every field that clients rely on, echoed from the request or with its default. */
export function responseObject(asked: Asked, state: State): JsonObject {
  const body: JsonObject = object(asked.body) ?? {}
  const created = createdAt(asked.id)
  return {
    id: responseId(asked.id),
    object: 'response',
    created_at: created,
    completed_at: state.status === 'completed' ? Math.max(created, Math.floor(Date.now() / 1000)) : null,
    status: state.status,
    error: state.error ?? null,
    incomplete_details: state.reason === undefined ? null : { reason: state.reason },
    instructions: body['instructions'] ?? null,
    metadata: object(body['metadata']) ?? {},
    model: state.model ?? asked.model,
    output: state.output,
    parallel_tool_calls: boolean(body['parallel_tool_calls']) ?? true,
    previous_response_id: text(body['previous_response_id']) ?? null,
    temperature: number(body['temperature']) ?? 1,
    top_p: number(body['top_p']) ?? 1,
    presence_penalty: number(body['presence_penalty']) ?? 0,
    frequency_penalty: number(body['frequency_penalty']) ?? 0,
    tool_choice: body['tool_choice'] ?? 'auto',
    tools: objects(body['tools']).map(echoedTool),
    top_logprobs: number(body['top_logprobs']) ?? 0,
    truncation: text(body['truncation']) ?? 'disabled',
    text: { ...object(body['text']), format: object(object(body['text'])?.['format']) ?? { type: 'text' } },
    reasoning: { effort: null, summary: null, ...object(body['reasoning']) },
    usage: state.usage ?? null,
    max_output_tokens: number(body['max_output_tokens']) ?? null,
    max_tool_calls: number(body['max_tool_calls']) ?? null,
    store: body['background'] === true || body['store'] !== false,
    background: boolean(body['background']) ?? false,
    service_tier: echoedTier(state.serviceTier, body['service_tier']),
    safety_identifier: text(body['safety_identifier']) ?? null,
    prompt_cache_key: text(body['prompt_cache_key']) ?? null,
    user: text(body['user']) ?? null,
    access_programs: null,
  }
}

function echoedTool(tool: JsonObject): JsonObject {
  if (tool['type'] !== 'function') return tool
  return { description: null, parameters: null, ...tool, strict: strictOf(tool) }
}

const tiers = new Set(['default', 'flex', 'scale', 'priority', 'ultrafast'])

/** The actual tier, otherwise the requested one. `auto` becomes `default`, and `fast` is named `priority`. */
function echoedTier(served: string | undefined, asked: Json | undefined): string {
  const tier = served !== undefined && tiers.has(served) ? served : text(asked)
  if (tier === 'fast') return 'priority'
  return tier !== undefined && tiers.has(tier) ? tier : 'default'
}
