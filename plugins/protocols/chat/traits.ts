import type { FromSchema } from 'json-schema-to-ts'
import type { Traits } from '../../../engine/index.ts'
import { samplingTrait } from '../../../engine/kit.ts'

/** Traits of an upstream, with defaults that suit an unknown compatible server. */
export const chatTraits = {
  max_tokens_field: {
    enum: ['max_completion_tokens', 'max_tokens'],
    default: 'max_completion_tokens',
    description: 'The field that limits the output.',
  },
  system_role: {
    enum: ['system', 'developer'],
    default: 'system',
    description: 'The role of system and developer messages.',
  },
  custom_tools: {
    type: 'boolean',
    default: false,
    description: 'Takes tools with free text; otherwise they become functions with one string `input`.',
  },
  allowed_tools: {
    type: 'boolean',
    default: false,
    description: 'Takes `allowed_tools` as a tool choice; otherwise only the allowed tools are sent.',
  },
  parallel_tool_calls: { type: 'boolean', default: true, description: 'Takes `parallel_tool_calls`.' },
  json_schema: {
    type: 'boolean',
    default: true,
    description: 'Takes a JSON Schema as response format; otherwise `json_object` and an instruction are sent.',
  },
  strict: { type: 'boolean', default: true, description: 'Takes `strict` on functions and response formats.' },
  stream_usage: { type: 'boolean', default: true, description: 'Takes `stream_options.include_usage`.' },
  reasoning_effort: {
    anyOf: [{ type: 'boolean' }, { type: 'array', items: { type: 'string' } }],
    default: true,
    description: 'Takes `reasoning_effort`: any value (true), none (false), or the listed values.',
  },
  reasoning_content: {
    type: 'boolean',
    default: false,
    description: 'Expects its reasoning text back as `reasoning_content` of the assistant message.',
  },
  think_tags: {
    type: 'boolean',
    default: false,
    description: 'Writes its reasoning into the content, between `<think>` and `</think>`.',
  },
  cache_control: { type: 'boolean', default: false, description: 'Takes `cache_control` on parts and tools.' },
  images: { type: 'boolean', default: true, description: 'Takes `image_url` parts.' },
  files: { type: 'boolean', default: false, description: 'Takes `file` parts.' },
  audio: { type: 'boolean', default: false, description: 'Takes `input_audio` parts.' },
  user_field: {
    enum: ['user', 'safety_identifier', false],
    default: 'user',
    description: 'The field that names the end user; false: none.',
  },
  logprobs: { type: 'boolean', default: true, description: 'Takes `logprobs` and `top_logprobs`.' },
  sampling: samplingTrait,
  top_k: { type: 'boolean', default: false, description: 'Takes `top_k`.' },
  prompt_cache_key: { type: 'boolean', default: false, description: 'Takes `prompt_cache_key`.' },
  service_tier: { type: 'boolean', default: false, description: 'Takes `service_tier`.' },
  verbosity: { type: 'boolean', default: false, description: 'Takes `verbosity`.' },
  web_search: { type: 'boolean', default: false, description: 'Searches the web: takes `web_search_options`.' },
  metadata: { type: 'boolean', default: false, description: 'Takes `metadata` and `store`.' },
} as const

type Table = typeof chatTraits

export type ChatTraits = { readonly [Name in keyof Table]: FromSchema<Table[Name]> }

const table = Object.entries(chatTraits)

/** The defaults, overridden by an offer's traits. Unknown traits are ignored. */
export function traitsOf(given: Traits = {}): ChatTraits {
  return Object.fromEntries(table.map(([name, trait]) => [name, given[name] ?? trait.default])) as unknown as ChatTraits
}
