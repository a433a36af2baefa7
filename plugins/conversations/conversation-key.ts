import { hash } from 'node:crypto'
import type { Envelope, Json, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'

/**
 * The id of the conversation of a request: a hash of the API key, and of the first of these that the request has:
 * `routing.conversation`, the header `x-conversation-id`, `prompt_cache_key`, the first system and user messages. A
 * response that continues another one has the messages of the whole chain, so its first response and all that follow
 * have the same id. Undefined for a request that is no conversation.
 */
export function conversationOf({ operation, body, headers }: Envelope, keyId: string): string | undefined {
  const { routing, prompt_cache_key: cacheKey } = body
  const named = isObject(routing) ? routing['conversation'] : undefined
  if (typeof named === 'string') return keyed(keyId, 'conversation', named)
  const header = headers['x-conversation-id']
  if (typeof header === 'string') return keyed(keyId, 'header', header)
  if (typeof cacheKey === 'string') return keyed(keyId, 'cache', cacheKey)
  if (operation !== 'generate') return undefined
  const user = firstUserMessage(body)
  return user === undefined ? undefined : keyed(keyId, 'messages', JSON.stringify([systemOf(body), user]))
}

/** What no other API key shares. */
export function keyed(keyId: string, kind: string, text: string): string {
  return hash('sha256', `${keyId}\n${kind}\n${text}`)
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
