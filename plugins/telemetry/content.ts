import type {
  GenerateReply,
  GenerateRequest,
  Item,
  Json,
  JsonObject,
  MediaSource,
  Part,
  ToldCall,
  Tool,
  ToolResult,
} from '../../engine/index.ts'
import { parsedJson } from '../../engine/kit.ts'
import { finishReason } from './call-span.ts'
import { names } from './semantic-conventions.ts'
import type { Attributes } from './tracer.ts'

/** A message as the conventions have it (`gen-ai-input-messages.json`). */
interface Told {
  readonly role: string
  readonly parts: JsonObject[]
}

/**
 * Says what a provider was asked and what it answered, as JSON texts.
 * @param most bytes of each
 */
export function describeContent(
  attributes: Attributes,
  call: ToldCall,
  most: number,
  scrub: (text: string) => string,
): void {
  const put = (name: string, value: Json | undefined) => {
    if (value === undefined) return
    const text = scrub(JSON.stringify(value))
    const kept = cut(text, most)
    attributes[name] = kept
    if (kept.length < text.length) attributes[names.truncated] = true
  }
  const { rpc, operation } = call
  const tool = rpc?.contents?.()
  put(names.toolArguments, tool?.arguments)
  put(names.toolResult, tool?.result)
  if (operation !== 'generate') return
  const { request, reply } = call.content?.() ?? {}
  if (request) {
    const { items, tools } = request as GenerateRequest
    const apart = apartIn(items, call)
    put(names.systemInstructions, apart.length === 0 ? undefined : apart.flatMap(partsOf))
    put(names.inputMessages, messagesOf(items.filter((item) => !apart.includes(item))) as unknown as Json)
    put(names.toolDefinitions, tools.length === 0 ? undefined : tools.map(definitionOf))
  }
  if (reply) put(names.outputMessages, answerOf(reply as GenerateReply))
}

/** The beginning of a text, of at most so many bytes, cut between two characters. */
function cut(text: string, most: number): string {
  if (text.length * 3 <= most || Buffer.byteLength(text) <= most) return text
  const bytes = Buffer.from(text)
  let end = most
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.subarray(0, end).toString()
}

/** The system text that a protocol has apart from its messages. */
function apartIn(items: readonly Item[], { protocol, lane, asked }: ToldCall): readonly Item[] {
  // Chat completions have all of it among the messages, and responses what is not their instructions.
  if (protocol === 'chat') return []
  if (protocol !== 'responses')
    return items.filter((item) => item.type === 'message' && (item.role === 'system' || item.role === 'developer'))
  if (lane === 'bytes') return items.slice(0, Number(asked?.()['apart'] ?? 0))
  // Of another protocol, the texts before all else become their instructions, unless there is nothing else.
  const first = items.findIndex((item) => !isInstruction(item))
  return first < 0 ? [] : items.slice(0, first)
}

function isInstruction(item: Item): boolean {
  return item.type === 'message' && item.role === 'system' && item.content.every(({ type }) => type === 'text')
}

/** Neighbouring items of one role are one message. */
function messagesOf(items: readonly Item[]): Told[] {
  const messages: Told[] = []
  for (const item of items) {
    const role = roleOf(item)
    const parts = partsOf(item)
    const last = messages.at(-1)
    if (last?.role === role && item.type !== 'message') last.parts.push(...parts)
    else messages.push({ role, parts })
  }
  return messages
}

function answerOf({ items, stop }: GenerateReply): JsonObject[] {
  const parts = items.flatMap((item) => partsOf(item))
  return [{ role: 'assistant', parts, finish_reason: finishReason(stop) }]
}

function roleOf(item: Item): string {
  if (item.type === 'message') return item.role
  if (item.type === 'result') return 'tool'
  return item.type === 'opaque' ? (item.role ?? 'assistant') : 'assistant'
}

function partsOf(item: Item): JsonObject[] {
  switch (item.type) {
    case 'message':
      return item.content.map(partOf)
    case 'reasoning':
      return item.parts.map(({ text }) => ({ type: 'reasoning', content: text }))
    case 'call': {
      const name = item.namespace === undefined ? item.name : `${item.namespace}__${item.name}`
      // Tools of free text have no arguments that could be parsed.
      return [{ type: 'tool_call', id: item.callId, name, arguments: parsedJson(item.input) ?? item.input }]
    }
    case 'result':
      return [{ type: 'tool_call_response', id: item.callId, response: responseOf(item) }]
    case 'opaque':
      return [
        {
          type: 'server_tool_call',
          name: nameOf(item.value),
          ...(item.search ? { server_tool_call: { type: 'web_search' } } : {}),
        },
      ]
  }
}

/** Items of one protocol alone name what they are. */
function nameOf(value: JsonObject): string {
  const { type } = value
  return typeof type === 'string' ? type : 'unknown'
}

function responseOf({ content }: ToolResult): Json {
  const [first, ...others] = content
  return first?.type === 'text' && others.length === 0 ? first.text : content.map(partOf)
}

function partOf(part: Part): JsonObject {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'text', content: part.text }
    case 'image':
    case 'file':
    case 'audio':
      return mediumOf(part.source, part.type)
    case 'opaque':
      return { type: nameOf(part.value) }
  }
}

/** Bytes are told by their size and type alone. */
function mediumOf(source: MediaSource, modality: 'image' | 'file' | 'audio'): JsonObject {
  const kind = modality === 'file' ? {} : { modality }
  switch (source.kind) {
    case 'url':
      return { type: 'uri', ...kind, uri: source.url }
    case 'id':
      return { type: 'file', ...kind, file_id: source.id }
    case 'text':
      return { type: 'text', content: source.text }
    case 'data':
      return { type: 'blob', ...kind, mime_type: source.mediaType, size: Buffer.byteLength(source.data, 'base64') }
  }
}

function definitionOf(tool: Tool): Json {
  if (tool.type === 'opaque') return { type: nameOf(tool.value) }
  const { type, name, description } = tool
  const parameters = tool.type === 'function' ? tool.parameters : tool.format
  return {
    type,
    name,
    ...(description === undefined ? {} : { description }),
    ...(parameters === undefined ? {} : { parameters }),
  }
}
