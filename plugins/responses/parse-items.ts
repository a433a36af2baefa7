import { GatewayError } from '../../engine/index.ts'
import { customInput, defined, restored } from '../../engine/kit.ts'
import type { Item, Json, JsonObject, Message, Part, Restore } from '../../engine/index.ts'
import { parseParts } from './parse-parts.ts'
import { isSealed, parseNative, parseReplayed } from './reasoning.ts'
import { isList, object, protocol, text } from './values.ts'
import { inWords as searchedInWords, parseSearch } from './web-search.ts'

/**
 * Parses an item of a client, input, or an answer of an earlier turn, as one item or more. Unknown types are allowed. Throws `invalid_value`
 * for an item of a known type without a required field. `at` is its path in errors.
 */
export function parseInputItem(item: JsonObject, at: string): readonly Item[] {
  requireParts(item, at)
  if (item['type'] === 'reasoning') return [parseReplayed(item)]
  const read = readItem(item, undefined)
  if (read.type === 'opaque') return [defined({ ...read, instead: inWords(item) })]
  // The seal that this gateway has put on a message is that of reasoning after it.
  const sealed =
    read.type === 'message' && isSealed(item)
      ? [parseReplayed({ encrypted_content: item.encrypted_content ?? null })]
      : []
  return [read, ...sealed]
}

/** Rejects an item of a known type that lacks a required field. */
function requireParts(item: JsonObject, at: string): void {
  switch (typeOf(item)) {
    case 'message':
      return requireContent(item['content'], `${at}.content`)
    case 'function_call':
    case 'custom_tool_call':
      requireText(text(item['call_id']) || item['id'], `${at}.call_id`)
      return requireText(item['name'], `${at}.name`)
    case 'function_call_output':
    case 'custom_tool_call_output':
      requireText(item['call_id'], `${at}.call_id`)
      return requireContent(item['output'], `${at}.output`)
  }
}

function requireText(value: Json | undefined, param: string): void {
  if (!text(value)) throw new GatewayError('invalid_value', { param, reason: 'it must be a text that is not empty' })
}

function requireContent(value: Json | undefined, param: string): void {
  if (value === undefined || value === null || typeof value === 'string' || isList(value)) return
  throw new GatewayError('invalid_value', { param, reason: 'it must be a text or a list of parts' })
}

/** The type of an item. Messages may omit it. */
function typeOf(item: JsonObject): string | undefined {
  return text(item['type']) ?? (typeof item['role'] === 'string' ? 'message' : undefined)
}

/** Parses an item of an upstream, with the client's tool names. Results of the upstream's own tools stay opaque. */
export function parseOutputItem(item: JsonObject, restore: Restore | undefined): Item {
  if (item['type'] === 'reasoning') return parseNative(item)
  const read = readItem(item, restore)
  return read.type === 'result' ? { type: 'opaque', protocol, value: item } : read
}

/** Never throws: an unknown item, or one without a required field, becomes opaque. */
function readItem(item: JsonObject, restore: Restore | undefined): Item {
  const id = text(item['id'])
  const callId = text(item['call_id']) || id
  switch (typeOf(item)) {
    case 'message':
      return defined({
        type: 'message' as const,
        role: readRole(item['role']),
        content: parseParts(item['content']),
        id,
        phase: text(item['phase']),
      })
    case 'function_call':
    case 'custom_tool_call':
      return readCall(item, callId, restore)
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const tied = text(item['call_id'])
      const kind = item['type'] === 'custom_tool_call_output' ? ('custom' as const) : ('function' as const)
      if (!tied) break
      return defined({ type: 'result' as const, kind, callId: tied, content: parseParts(item['output']), id })
    }
  }
  return defined({ type: 'opaque' as const, protocol, value: item, search: parseSearch(item) })
}

/** The content of an item that other protocols lack, as a message; undefined if it has no text form. */
function inWords(item: JsonObject): Message | undefined {
  switch (item['type']) {
    case 'web_search_call':
      return searchedInWords(item)
    case 'agent_message': {
      const [author, recipient] = [text(item['author']), text(item['recipient'])]
      const head = `Message${author ? ` from ${author}` : ''}${recipient ? ` to ${recipient}` : ''}:`
      return told('user', head, parseParts(item['content']))
    }
    case 'local_shell_call': {
      const command = object(item['action'])?.['command']
      const words = isList(command) ? command.filter((word) => typeof word === 'string').join(' ') : ''
      return told('assistant', 'I ran this in a shell:', parseParts(words))
    }
    case 'local_shell_call_output':
      return told('user', 'The shell answered:', parseParts(item['output']))
  }
  return undefined
}

function told(role: Message['role'], head: string, content: readonly Part[]): Message {
  return { type: 'message', role, content: [{ type: 'text', text: head }, ...content] }
}

function readRole(role: unknown): Message['role'] {
  return role === 'system' || role === 'developer' || role === 'assistant' ? role : 'user'
}

function readCall(item: JsonObject, callId: string | undefined, restore: Restore | undefined): Item {
  const printedName = text(item['name'])
  if (!callId || !printedName) return { type: 'opaque', protocol, value: item }
  const tool = restored(restore, printedName)
  const custom = item['type'] === 'custom_tool_call'
  const written = text(custom ? item['input'] : item['arguments']) ?? ''
  return defined({
    type: 'call' as const,
    kind: custom ? ('custom' as const) : tool.kind,
    callId,
    name: tool.name,
    namespace: text(item['namespace']) ?? tool.namespace,
    input: custom || tool.kind === 'function' ? written : customInput(written),
    id: text(item['id']),
  })
}
