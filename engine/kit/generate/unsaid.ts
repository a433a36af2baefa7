import type { GenerateRequest } from '../../spec/generate.ts'
import type { Loss } from '../../spec/translation.ts'

/**
 * Options of a request that not every protocol has, by the names clients use. Items, tools and the stream are not
 * among them.
 */
const wishes = {
  toolChoice: 'tool_choice',
  parallelTools: 'parallel_tool_calls',
  maxOutputTokens: 'max_output_tokens',
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  stop: 'stop',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logprobs: 'logprobs',
  reasoning: 'reasoning',
  format: 'response_format',
  verbosity: 'verbosity',
  user: 'user',
  cacheKey: 'prompt_cache_key',
  serviceTier: 'service_tier',
  metadata: 'metadata',
} as const satisfies { readonly [K in keyof GenerateRequest]?: string }

/** A field of a `GenerateRequest` that is such an option. */
export type Wish = keyof typeof wishes

/** The losses of a request in a protocol that has only the options in `said`: one for each other option that is set. */
export function unsaid(request: GenerateRequest, said: readonly Wish[]): readonly Loss[] {
  const losses = (Object.keys(wishes) as Wish[])
    .filter((wish) => request[wish] !== undefined && !said.includes(wish))
    .map((wish) => ({ field: wishes[wish], because: 'the protocol has no such field' }))
  const { rest } = request
  const own = Object.keys(rest?.fields ?? {}).map((field) => ({ field, because: `only ${rest?.protocol} has it` }))
  return [...losses, ...own]
}

/** A foreign name, fit for a loss. Losses reach headers and logs, so anything but a single word is withheld. */
export function word(name: unknown): string {
  return typeof name === 'string' && /^[\w.-]{1,64}$/.test(name) ? name : 'unknown'
}
