import { hash } from 'node:crypto'
import type { Envelope, Json, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'

/**
 * What identifies the conversation of a request, in this order: `routing.conversation`, the header `x-conversation-id`,
 * `prompt_cache_key`, and a hash of the first system and user messages. A response that continues another one has the
 * messages of the whole chain. Undefined for a request that is no conversation.
 */
export function conversationOf({ operation, body, headers }: Envelope): string | undefined {
  const { routing, prompt_cache_key: cacheKey } = body
  const named = isObject(routing) ? routing['conversation'] : undefined
  if (typeof named === 'string') return `conversation ${named}`
  const header = headers['x-conversation-id']
  if (typeof header === 'string') return `header ${header}`
  if (typeof cacheKey === 'string') return `cache ${cacheKey}`
  if (operation !== 'generate') return undefined
  const said = [systemOf(body), firstUserMessage(body)]
  return said[1] === undefined ? undefined : `messages ${hash('sha256', JSON.stringify(said))}`
}

/** The system prompt, wherever a protocol has it. */
function systemOf(body: JsonObject): Json | undefined {
  const { system, instructions } = body
  return (
    system ??
    instructions ??
    messagesOf(body).find(({ role }) => role === 'system' || role === 'developer')?.['content']
  )
}

function firstUserMessage(body: JsonObject): Json | undefined {
  const { input, messages } = body
  if (typeof input === 'string' && messages === undefined) return input
  return messagesOf(body).find(({ role }) => role === 'user')?.['content']
}

function messagesOf({ messages, input }: JsonObject): readonly JsonObject[] {
  const list = messages ?? input
  return Array.isArray(list) ? list.filter(isObject) : []
}
