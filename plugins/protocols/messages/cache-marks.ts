import type { GenerateRequest, Json, JsonObject, PrintTarget } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import type { MessagesTraits } from './traits.ts'

/** Least characters of a prompt for caching: about 1,024 tokens, below which the vendor caches nothing. */
export const worthwhile = 4096
const mark = { cache_control: { type: 'ephemeral' } } as const

/** Whether the gateway sets cache marks for a client whose protocol has none. */
export function wantsMarks(
  { cacheKey }: GenerateRequest,
  { caching }: PrintTarget,
  { cache_control: takes }: Pick<MessagesTraits, 'cache_control'>,
): boolean {
  return takes !== false && (caching === 'auto' || (caching === 'asked' && cacheKey !== undefined))
}

/** The part of a request that the next one repeats. */
interface Prompt {
  readonly system?: string | readonly JsonObject[]
  readonly tools?: readonly JsonObject[]
  readonly messages: readonly { readonly role: string; readonly content: readonly JsonObject[] }[]
}

/**
 * The prompt with a mark on the last block of the system text, the last tool, and the last block of the user's last
 * turn. A prompt that is short, or already has a mark, stays unchanged.
 */
export function withMarks(prompt: Prompt): Prompt {
  const { system, tools, messages } = prompt
  if (isMarked(system) || isMarked(tools) || messages.some(({ content }) => isMarked(content))) return prompt
  if (lengthUpTo(worthwhile, [system, tools, messages] as Json) < worthwhile) return prompt
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return {
    ...(system === undefined
      ? {}
      : { system: lastMarked(typeof system === 'string' ? [{ type: 'text', text: system }] : system) }),
    ...(tools ? { tools: lastMarked(tools) } : {}),
    messages: messages.map((turn, at) => (at === last ? { ...turn, content: lastMarked(turn.content) } : turn)),
  }
}

function isMarked(blocks: string | readonly JsonObject[] | undefined): boolean {
  return Array.isArray(blocks) && blocks.some((block: JsonObject) => block.cache_control !== undefined)
}

function lastMarked(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const last = blocks.at(-1)
  return last ? [...blocks.slice(0, -1), { ...last, ...mark }] : blocks
}

/** The number of characters in the strings of a value. Counting stops at `most`. */
export function lengthUpTo(most: number, value: Json | undefined): number {
  if (typeof value === 'string') return value.length
  if (!Array.isArray(value) && !isObject(value)) return 0
  let length = 0
  for (const inner of Object.values(value)) {
    if (length >= most) break
    length += lengthUpTo(most - length, inner as Json)
  }
  return length
}
