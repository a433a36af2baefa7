import type { Annotation, FilePart, ImagePart, JsonObject, Message, Part, TextPart } from '../../../engine/index.ts'
import { word } from '../../../engine/kit.ts'
import type { Losses } from '../../../engine/kit.ts'
import { cacheControl } from './printing.ts'
import type { Printing } from './printing.ts'
import type { MediaSource, TextBlock } from './wire.ts'
import { protocol } from './wire.ts'

/** Blocks of a message, without blank texts, which the protocol rejects. */
export function messageBlocks(parts: readonly Part[], role: Message['role'], printing: Printing): JsonObject[] {
  const blocks = parts.map((part) => (role === 'user' ? partBlock(part, printing) : spokenBlock(part, printing)))
  return blocks.filter((block) => block !== undefined)
}

/** Content of a tool's result: a string if it is a single plain text. */
export function resultContent(parts: readonly Part[], printing: Printing): string | JsonObject[] | undefined {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'text' && !first.cache && !first.annotations)
    return blank(first) ? undefined : first.text
  const blocks = messageBlocks(parts, 'user', printing)
  return blocks.length === 0 ? undefined : blocks
}

/** A text in place of a part without a block, so that the model knows about it. */
function placeholder(text: string): TextBlock {
  return { type: 'text', text: `[${text}]` }
}

/** A block of the system or of the assistant, whose messages have no media. */
function spokenBlock(part: Part, printing: Printing): JsonObject | undefined {
  if (part.type !== 'image' && part.type !== 'file') return partBlock(part, printing)
  printing.losses.add(`messages[].content.${part.type}`, 'only users and tools can show media')
  return placeholder(`${part.type} omitted`)
}

function partBlock(part: Part, printing: Printing): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return textBlock(part, printing)
    case 'refusal':
      return blank(part) ? undefined : { type: 'text', text: part.text }
    case 'image':
      return imageBlock(part, printing)
    case 'file':
      return fileBlock(part, printing)
    case 'audio':
      printing.losses.add('messages[].content.audio', 'the protocol has no sound')
      return placeholder('audio omitted')
    case 'opaque':
      if (part.protocol === protocol) return part.value
      printing.losses.add(`messages[].content.${word(part.value.type)}`, `only ${part.protocol} knows it`)
      return undefined
  }
}

function blank({ text }: { readonly text: string }): boolean {
  return !/\S/.test(text)
}

function textBlock(part: TextPart, printing: Printing): TextBlock | undefined {
  if (blank(part)) return undefined
  const citations = nativeCitations(part.annotations, printing.losses)
  return {
    type: 'text',
    text: part.text,
    ...(citations.length > 0 ? { citations } : {}),
    ...cacheControl(part.cache, printing),
  }
}

/** Citations of this protocol. Those of other protocols cannot be printed: they lack the vendor's search index. */
function nativeCitations(annotations: readonly Annotation[] = [], losses: Losses): JsonObject[] {
  const own = annotations.map((one) => (one.type === 'url' ? one.own : one)).filter((one) => one?.protocol === protocol)
  if (own.length < annotations.length)
    losses.add('messages[].content.annotations', 'citations of other protocols have no form here')
  return own.flatMap((one) => (one ? [one.value] : []))
}

function imageBlock({ source, detail, cache }: ImagePart, printing: Printing): JsonObject {
  if (isForeign(source)) return foreign('image', source, printing)
  if (detail !== undefined && detail !== 'auto')
    printing.losses.add('messages[].content.detail', 'images have no detail here')
  return { type: 'image', source: mediaSource(source), ...cacheControl(cache, printing) }
}

function fileBlock(part: FilePart, printing: Printing): JsonObject {
  const { source, title = part.filename, context, citations } = part
  if (source.kind === 'data' && source.mediaType.startsWith('image/'))
    return imageBlock({ type: 'image', source }, printing)
  if (isForeign(source)) return foreign('file', source, printing)
  const readable = documentSource(source)
  if (!readable) {
    printing.losses.add('messages[].content.file', 'documents are PDF or text here', source)
    return placeholder(`file omitted${title === undefined ? '' : `: ${title}`}`)
  }
  return {
    type: 'document',
    source: readable,
    ...(title === undefined ? {} : { title }),
    ...(context === undefined ? {} : { context }),
    ...(citations === undefined ? {} : { citations: { enabled: citations } }),
    ...cacheControl(part.cache, printing),
  }
}

/** Whether a source is a file id of another protocol. */
function isForeign(source: FilePart['source']): boolean {
  return source.kind === 'id' && source.api !== protocol
}

function foreign(what: string, source: FilePart['source'], { losses }: Printing): JsonObject {
  losses.add('messages[].content.file_id', 'a file is known only to the vendor that holds it', source)
  return placeholder(`${what} omitted`)
}

function documentSource(source: FilePart['source']): MediaSource | undefined {
  if (source.kind !== 'data' || source.mediaType === 'application/pdf') return mediaSource(source)
  if (!source.mediaType.startsWith('text/') && source.mediaType !== 'application/json') return undefined
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.data, 'base64').toString() }
}

function mediaSource(source: ImagePart['source']): MediaSource {
  switch (source.kind) {
    case 'data':
      return { type: 'base64', media_type: source.mediaType, data: source.data }
    case 'text':
      return { type: 'text', media_type: 'text/plain', data: source.text }
    case 'url':
      return { type: 'url', url: source.url }
    case 'id':
      return { type: 'file', file_id: source.id }
  }
}
