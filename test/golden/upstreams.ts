import type { Codec, Traits } from '../../engine/index.ts'
import chat from '../../plugins/protocols/chat/codec.ts'
import gemini from '../../plugins/protocols/gemini/codec.ts'
import messages from '../../plugins/protocols/messages/codec.ts'
import responses from '../../plugins/responses/codec.ts'

/** A codec with every form of its operation. */
export type Generating = Codec<'generate'> & Required<Pick<Codec<'generate'>, 'request' | 'reply' | 'events'>>

/** An upstream: its protocol, and what it takes of it. */
export interface Upstream {
  readonly name: string
  readonly codec: Generating
  readonly traits: Traits
}

const everything = {
  system_role: 'developer',
  custom_tools: true,
  allowed_tools: true,
  cache_control: true,
  files: true,
  audio: true,
  user_field: 'safety_identifier',
  top_k: true,
  prompt_cache_key: true,
  service_tier: true,
  verbosity: true,
  metadata: true,
  reasoning_content: true,
}
const nothing = {
  max_tokens_field: 'max_tokens',
  parallel_tool_calls: false,
  json_schema: false,
  strict: false,
  stream_usage: false,
  reasoning_effort: ['low', 'high'],
  images: false,
  user_field: false,
  logprobs: false,
}
const few = {
  custom_tools: false,
  namespaces: false,
  allowed_tools: false,
  encrypted_reasoning: false,
  file_url: false,
}
const other = {
  effort: true,
  thinking: 'always',
  system_messages: true,
  sampling: 'one',
  cache_control: 'untimed',
  strict_tools: true,
}

export const upstreams: readonly Upstream[] = [
  { name: 'chat, plain', codec: chat as Generating, traits: {} },
  { name: 'chat that takes everything', codec: chat as Generating, traits: everything },
  { name: 'chat that takes little', codec: chat as Generating, traits: nothing },
  { name: 'messages, plain', codec: messages as Generating, traits: {} },
  { name: 'messages of newer models', codec: messages as Generating, traits: other },
  {
    name: 'messages that takes little',
    codec: messages as Generating,
    traits: { thinking: false, sampling: false, cache_control: false, json_schema: false },
  },
  { name: 'responses, plain', codec: responses as Generating, traits: {} },
  { name: 'responses that takes little', codec: responses as Generating, traits: few },
  { name: 'gemini, plain', codec: gemini as Generating, traits: {} },
  {
    name: 'gemini that takes little',
    codec: gemini as Generating,
    traits: { thinking: false, web_search: false, file_urls: false },
  },
]
