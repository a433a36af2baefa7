import type { CacheMark, FilePart, ImagePart, Item, Message, Part, TextPart } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { parseThinking } from './thinking.ts'
import { parseCitation, replayedItem } from './web-search.ts'
import type { Block, CacheControl, DocumentBlock, ImageBlock, MediaSource, RedactedThinkingBlock } from './wire.ts'
import type { SearchResultBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock, Turn } from './wire.ts'
import { protocol } from './wire.ts'

/** Start of a text that one client puts into `system[0]`. It differs in every request and means nothing to a model. */
const billing = 'x-anthropic-billing-header:'

/** The system text as one message; none if it is empty. */
export function systemMessages(system: string | readonly TextBlock[]): readonly Message[] {
  const blocks = typeof system === 'string' ? [{ type: 'text', text: system } as const] : system
  const content = blocks.filter((block) => block.text !== '' && !block.text.startsWith(billing)).map(textPart)
  return content.length === 0 ? [] : [{ type: 'message', role: 'system', content }]
}

/** The items of one turn, in the order of its blocks; `at` is the turn's path in errors. */
export function turnItems({ role, content }: Turn, at: string): readonly Item[] {
  if (typeof content === 'string') return [{ type: 'message', role, content: [{ type: 'text', text: content }] }]
  const items: Item[] = []
  let open: Part[] | undefined
  for (const [index, block] of content.entries()) {
    const parts = contentParts(block, `${at}.content[${index}]`)
    if (parts) {
      if (!open) items.push({ type: 'message', role, content: (open = []) })
      for (const part of parts) open.push(part)
    } else {
      open = undefined
      items.push(ownItem(block, role, `${at}.content[${index}]`, items))
    }
  }
  return items
}

/** The item of a block that is no part of a message. */
function ownItem(block: Block, role: Turn['role'], at: string, before: Item[]): Item {
  switch (block.type) {
    case 'thinking':
      return parseThinking(block as ThinkingBlock)
    case 'redacted_thinking':
      return parseThinking(block as RedactedThinkingBlock)
    case 'tool_use':
      return toolCall(block as ToolUseBlock)
    case 'tool_result':
      return toolResult(block as ToolResultBlock, at)
    default:
      return replayedItem(block, role === 'assistant' ? 'assistant' : 'user', before)
  }
}

function toolCall(block: ToolUseBlock): Item {
  return {
    type: 'call',
    kind: 'function',
    callId: block.id,
    name: block.name,
    input: JSON.stringify(block.input),
    ...cached(block),
  }
}

function toolResult(block: ToolResultBlock, at: string): Item {
  const { content } = block
  return {
    type: 'result',
    kind: 'function',
    callId: block.tool_use_id,
    content: typeof content === 'string' ? plain(content) : resultParts(content ?? [], at),
    ...(block.is_error === true ? { error: true } : {}),
    ...cached(block),
  }
}

function resultParts(blocks: readonly Block[], at: string): Part[] {
  return blocks.flatMap(
    (block, index): readonly Part[] =>
      contentParts(block, `${at}.content[${index}]`) ?? [{ type: 'opaque', protocol, value: block }],
  )
}

/** A block as parts of a message or of a tool's result; undefined if it is neither text nor media. */
function contentParts(block: Block, at: string): readonly Part[] | undefined {
  switch (block.type) {
    case 'text':
      return [textPart(block as TextBlock)]
    case 'image':
      return [imagePart(block as ImageBlock, at)]
    case 'document':
      return documentParts(block as DocumentBlock, at)
    case 'search_result':
      return [searchText(block as SearchResultBlock)]
    default:
      return undefined
  }
}

function textPart(block: TextBlock): TextPart {
  const annotations = (block.citations ?? []).map((value) => parseCitation(value, block.text.length))
  return { type: 'text', text: block.text, ...(annotations.length > 0 ? { annotations } : {}), ...cached(block) }
}

function imagePart(block: ImageBlock, at: string): ImagePart {
  return { type: 'image', source: mediaSource(block.source, at), ...cached(block) }
}

function documentParts(block: DocumentBlock, at: string): readonly Part[] {
  const { source, title, context, citations } = block
  const file: FilePart = {
    type: 'file',
    source: mediaSource(source, at),
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof context === 'string' ? { context } : {}),
    ...(citations?.enabled === undefined ? {} : { citations: citations.enabled }),
    ...cached(block),
  }
  if (source.type !== 'content' || typeof source.content === 'string') return [file]
  // A document may consist of texts and images: its images follow it.
  return [file, ...source.content.filter((part) => part.type === 'image').map((part) => imagePart(part, at))]
}

function mediaSource(source: MediaSource, at: string): ImagePart['source'] {
  switch (source.type) {
    case 'base64':
      return { kind: 'data', mediaType: source.media_type, data: source.data }
    case 'text':
      return { kind: 'text', mediaType: source.media_type ?? 'text/plain', text: source.data }
    case 'url':
      return { kind: 'url', url: source.url }
    case 'file':
      return { kind: 'id', id: source.file_id, api: protocol }
    case 'content':
      return { kind: 'text', mediaType: 'text/plain', text: contentText(source.content) }
    default:
      throw new GatewayError('invalid_value', { param: `${at}.source.type`, reason: 'it is not a kind of source' })
  }
}

function contentText(content: string | readonly (TextBlock | ImageBlock)[]): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
}

function searchText(block: SearchResultBlock): TextPart {
  const text = [`${block.title}\n${block.source}`, ...block.content.map((part) => part.text)].join('\n\n')
  return { type: 'text', text, ...cached(block) }
}

function plain(text: string): Part[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

/** The cache mark of a block or tool, as a field to spread. */
export function cached(block: { readonly cache_control?: CacheControl | null }): { readonly cache?: CacheMark } {
  const mark = block.cache_control
  if (!mark) return {}
  return { cache: typeof mark.ttl === 'string' ? { ttl: mark.ttl } : {} }
}
