import { GatewayError } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'
import type { Item, Json, Message, Part, TextPart, ToolCall, ToolResult } from '../../../engine/index.ts'
import { parseAnnotation } from './annotations.ts'
import { parseDetails } from './details.ts'
import type { Placed } from './details.ts'
import { cacheOf, parseContent } from './parts.ts'
import { protocol } from './wire.ts'
import type { Cached, WireCall, WireMessage } from './wire.ts'

/** Separator between two messages of one turn that share the content of a chat message. */
export const separator = '\n\n'

/** Parses the messages of a request into items, in their original order. */
export function parseMessages(messages: readonly WireMessage[]): readonly Item[] {
  const kinds = new Map<string, ToolCall['kind']>()
  const legacy = new LegacyCalls()
  return messages.flatMap((message, at): readonly Item[] => {
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        return [plain(message, message.role)]
      case 'assistant': {
        const items = parseTurn(message, legacy.call(message, at))
        for (const item of items) if (item.type === 'call') kinds.set(item.callId, item.kind)
        return items
      }
      case 'tool':
        return [
          result(message, message.tool_call_id as string, kinds.get(message.tool_call_id as string) ?? 'function'),
        ]
      case 'function':
        return [result(message, legacy.answered(message.name as string, at), 'function')]
      default:
        throw new GatewayError('invalid_value', {
          param: `messages[${at}].role`,
          reason: 'it must be one of "system", "developer", "user", "assistant", "tool", "function"',
        })
    }
  })
}

/** The parts of an assistant message, in their original order. */
function parseTurn(message: WireMessage, legacyCall: readonly ToolCall[]): readonly Item[] {
  const calls = [...(message.tool_calls ?? []).map(parseCall), ...legacyCall]
  const content = said(message)
  const placed = parseReasoning(message)
  if (content.length > 0 || calls.length > 0 || placed.length > 0) {
    return [...interleaved(placed, content, calls, (parts) => plain({ ...message, content: null }, 'assistant', parts))]
  }
  return [plain(message, 'assistant')]
}

function plain(message: WireMessage, role: Message['role'], content = marked(message)): Message {
  return { type: 'message', role, content, ...(typeof message.name === 'string' ? { name: message.name } : {}) }
}

/** The content; a cache mark on the message itself belongs to its last part. */
function marked(message: WireMessage): readonly Part[] {
  const content = parseContent(message.content)
  const last = content.at(-1)
  const { cache } = cacheOf(message)
  if (!cache || (last?.type !== 'text' && last?.type !== 'image' && last?.type !== 'file')) return content
  return [...content.slice(0, -1), { ...last, cache }]
}

function said(message: WireMessage): readonly Part[] {
  const content = marked(message)
  const annotations = (message.annotations ?? []).map(parseAnnotation)
  // Offsets count from the beginning of the content, so they belong to its first text.
  const first = annotations.length > 0 ? content.findIndex(({ type }) => type === 'text') : -1
  const cited = content.map((part, at) => (at === first && part.type === 'text' ? { ...part, annotations } : part))
  const refusal: Part[] = message.refusal ? [{ type: 'refusal', text: message.refusal }] : []
  const images = Array.isArray(message.images) ? message.images.flatMap(parsePicture) : []
  const audio: Part[] = message.audio ? [{ type: 'opaque', protocol, value: { audio: message.audio } }] : []
  return [...cited, ...images, ...refusal, ...audio]
}

function parsePicture(picture: Json): readonly Part[] {
  const url = isObject(picture) && isObject(picture['image_url']) ? picture['image_url']['url'] : undefined
  return typeof url === 'string' ? parseContent([{ type: 'image_url', image_url: { url } }]) : []
}

function parseReasoning({ reasoning_details: details, reasoning_content: content, reasoning }: WireMessage): Placed[] {
  if (details && details.length > 0) return parseDetails(details)
  const text = content || reasoning
  return text ? [{ reasoning: { type: 'reasoning', parts: [{ kind: 'text', text }] }, place: [0, 0] }] : []
}

function* interleaved(
  placed: readonly Placed[],
  content: readonly Part[],
  calls: readonly ToolCall[],
  message: (parts: readonly Part[]) => Message,
) {
  const rest = new Rest(content)
  let characters = 0
  let called = 0
  for (const { reasoning, place } of placed) {
    const before = rest.take(place[0] - characters)
    if (before.length > 0) {
      yield message(before)
      characters = place[0] + (rest.unseparate() ? separator.length : 0)
    }
    while (called < place[1] && called < calls.length) yield calls[called++] as ToolCall
    yield reasoning
  }
  const after = rest.take(Infinity)
  if (after.length > 0) yield message(after)
  yield* calls.slice(called)
}

/** Parts of a message, taken from the front. */
class Rest {
  readonly #parts: readonly Part[]
  #at = 0
  /** The rest of the first part, if it was cut. */
  #cut: TextPart | undefined

  constructor(parts: readonly Part[]) {
    this.#parts = parts
  }

  /** The parts up to the given number of characters of text. */
  take(characters: number): readonly Part[] {
    const taken: Part[] = []
    let left = characters
    while (left > 0) {
      const part = this.#first
      if (!part) break
      if (part.type === 'text' && part.text.length > left) {
        taken.push({ type: 'text', text: part.text.slice(0, left) })
        this.#cut = { ...part, text: part.text.slice(left) }
        break
      }
      taken.push(part)
      this.#at++
      this.#cut = undefined
      if (part.type === 'text') left -= part.text.length
    }
    return taken
  }

  /** Removes a separator at the front; false if there is none. */
  unseparate(): boolean {
    const part = this.#first
    if (part?.type !== 'text' || !part.text.startsWith(separator)) return false
    this.#cut = { ...part, text: part.text.slice(separator.length) }
    return true
  }

  get #first(): Part | undefined {
    return this.#cut ?? this.#parts[this.#at]
  }
}

function parseCall(call: WireCall): ToolCall {
  const cache = cacheOf(call)
  if (call.custom) {
    const { name, input } = call.custom
    return { type: 'call', kind: 'custom', callId: call.id, name, input: input ?? '', ...cache }
  }
  const { name, arguments: input } = call.function as { name: string; arguments?: Json }
  return { type: 'call', kind: 'function', callId: call.id, name, input: jsonText(input), ...cache }
}

/** Arguments as text. Some servers send an object. */
export function jsonText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

function result(message: WireMessage & Cached, callId: string, kind: ToolResult['kind']): ToolResult {
  return { type: 'result', kind, callId, content: parseContent(message.content), ...cacheOf(message) }
}

/**
 * Legacy function calls have no ids: each gets one from the position of its message, and its result finds it by name.
 */
class LegacyCalls {
  readonly #open = new Map<string, string>()

  call({ function_call: call }: WireMessage, at: number): readonly ToolCall[] {
    if (!call) return []
    const callId = `function_call_${at}`
    this.#open.set(call.name, callId)
    return [{ type: 'call', kind: 'function', callId, name: call.name, input: jsonText(call.arguments) }]
  }

  answered(name: string, at: number): string {
    const callId = this.#open.get(name) ?? `function_call_${at}`
    this.#open.delete(name)
    return callId
  }
}
