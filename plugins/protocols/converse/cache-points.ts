import type { JsonObject } from '../../../engine/index.ts'
import { lengthUpTo, worthwhile } from '../messages/cache-marks.ts'
import { cachePoint } from './printing.ts'

/** The part of a request that the next one repeats. */
interface Prompt {
  readonly system?: readonly JsonObject[]
  readonly toolConfig?: { readonly tools: readonly JsonObject[] }
  readonly messages: readonly { readonly role: string; readonly content: readonly JsonObject[] }[]
}

/**
 * The prompt with a cache point after the system text, after the tools, and at the end of the user's last turn. A prompt
 * that is short, or already has a point, stays unchanged.
 */
export function withPoints<P extends Prompt>(prompt: P): P {
  const { system = [], toolConfig, messages } = prompt
  const tools = toolConfig?.tools ?? []
  const lists = [system, tools, ...messages.map(({ content }) => content)]
  if (lists.some((list) => list.some((block) => 'cachePoint' in block))) return prompt
  if (lengthUpTo(worthwhile, lists) < worthwhile) return prompt
  const last = messages.findLastIndex(({ role }) => role === 'user')
  return {
    ...prompt,
    ...(system.length > 0 ? { system: [...system, cachePoint] } : {}),
    ...(toolConfig && tools.length > 0 ? { toolConfig: { ...toolConfig, tools: [...tools, cachePoint] } } : {}),
    messages: messages.map((turn, at) => (at === last ? { ...turn, content: pointed(turn.content) } : turn)),
  }
}

/** A turn with a point at its end, where the API takes one: not after a document that is no PDF. */
function pointed(content: readonly JsonObject[]): readonly JsonObject[] {
  const document = content.at(-1)?.['document'] as { readonly format?: string } | undefined
  return document === undefined || document.format === 'pdf' ? [...content, cachePoint] : content
}
