import { hash } from 'node:crypto'
import type { Envelope, Json, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'

/**
 * The id of the conversation of a request: a hash of the API key, and of the first of these that the request has:
 * `routing.conversation`, the header `x-conversation-id`, a chain of responses, `prompt_cache_key`, the first system and
 * user messages. Undefined for a request that is no conversation.
 *
 * A response that continues another one has the messages of the whole chain. So these stand for the chain: they are the
 * same in its first response, which nobody knows yet that others will continue. Of a chain that only its provider knows
 * there is nothing but the response that is continued.
 */
export function conversationOf(request: Envelope, keyId: string): string | undefined {
  const { operation, body } = request
  const { prompt_cache_key: cacheKey } = body
  const name = nameOf(request)
  if (name) return keyed(keyId, name.kind, name.text)
  if (typeof cacheKey === 'string' && !isChained(request)) return keyed(keyId, 'cache', cacheKey)
  if (operation !== 'generate') return undefined
  const { previous_response_id: unknown } = body
  if (typeof unknown === 'string') return keyed(keyId, 'response', unknown)
  const user = firstUserMessage(body)
  return user === undefined ? undefined : keyed(keyId, 'messages', JSON.stringify([said(systemOf(body)), said(user)]))
}

/** What the client calls the conversation of a request, and where it does. A key of a cache may stand for many. */
export function nameOf({ body: { routing }, headers }: Pick<Envelope, 'body' | 'headers'>): Name | undefined {
  const named = isObject(routing) ? routing['conversation'] : undefined
  if (typeof named === 'string') return { kind: 'conversation', text: named }
  const header = headers['x-conversation-id']
  return typeof header === 'string' ? { kind: 'header', text: header } : undefined
}

interface Name {
  readonly kind: 'conversation' | 'header'
  readonly text: string
}

/** Whether a request makes a response of a chain that is known here: one that is stored, so that it may be continued. */
function isChained({ operation, protocol, body, missing }: Envelope): boolean {
  return operation === 'generate' && protocol === 'responses' && body['store'] !== false && missing === undefined
}

/** What no other API key shares. */
export function keyed(keyId: string, kind: string, text: string): string {
  const head = `${keyId}\n${kind}\n`
  if (3 * (head.length + text.length) > page.length) return hash('sha256', head + text)
  // As one text they would be copied.
  const start = page.write(head)
  return hash('sha256', page.subarray(0, start + page.write(text, start)))
}

/** The text that is being hashed. */
const page = Buffer.alloc(16 * 1024)

/** The system prompt, wherever a protocol has it. */
function systemOf(body: JsonObject): Json | undefined {
  const { system, instructions, systemInstruction: instruction, system_instruction: sameInstruction } = body
  return (
    system ??
    instructions ??
    partsOf(instruction ?? sameInstruction) ??
    firstMessage(body, 'system', 'developer')?.['content']
  )
}

function firstUserMessage(body: JsonObject): Json | undefined {
  const { input, messages } = body
  if (typeof input === 'string' && messages === undefined) return input
  const { content, parts } = firstMessage(body, 'user') ?? {}
  return content ?? parts
}

function partsOf(content: Json | undefined): Json | undefined {
  return isObject(content) ? content['parts'] : undefined
}

/** A text is the same whether it stands alone or is the only part of a content: chains are kept in parts. */
function said(content: Json | undefined): Json | undefined {
  if (!Array.isArray(content)) return content
  const parts = content.map((part: Json) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : part))
  return parts.length === 1 ? parts[0] : parts
}

/** The first message in a role, or in another one. */
function firstMessage({ messages, input, contents }: JsonObject, role: string, other = role): JsonObject | undefined {
  const list = messages ?? input ?? contents
  if (!Array.isArray(list)) return undefined
  for (const one of list as readonly Json[])
    if (isObject(one) && (one['role'] === role || one['role'] === other)) return one
  return undefined
}
