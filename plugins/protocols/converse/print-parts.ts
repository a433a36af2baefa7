import { word } from '../../../engine/kit.ts'
import type { FilePart, ImagePart, JsonObject, MediaSource, Message, Offer, Part } from '../../../engine/index.ts'
import { pointAfter } from './printing.ts'
import type { Printing } from './printing.ts'
import { protocol } from './wire.ts'

/** Formats of images and documents by their media types. */
const images: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
])
const documents: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/markdown', 'md'],
  ['text/plain', 'txt'],
  ['application/json', 'txt'],
])

/** Beside a document, a turn needs a text. */
const beside = 'See the document.'

/** Blocks of a message, without blank texts, which the API rejects, and each cache point after its block. */
export function messageBlocks(parts: readonly Part[], role: Message['role'], printing: Printing): JsonObject[] {
  const blocks = parts.flatMap((part) => {
    const block = role === 'user' ? partBlock(part, printing) : spokenBlock(part, printing)
    return block ? [block, ...pointAfter(markOf(part, block), printing)] : []
  })
  const documented = blocks.some((block) => 'document' in block) && !blocks.some((block) => 'text' in block)
  return documented ? [{ text: beside }, ...blocks] : blocks
}

/** Content of a tool's result, which holds no cache points: whether any part is marked is said beside it. */
export function resultBlocks(parts: readonly Part[], printing: Printing) {
  const blocks = parts.map((part) => partBlock(part, printing))
  const mark = parts.map((part, at) => markOf(part, blocks[at])).findLast((one) => one !== undefined)
  return { content: blocks.filter((block) => block !== undefined), ...(mark ? { mark } : {}) }
}

/** Whether the gateway must fetch a part first: the API takes no URLs, except those of its own storage. */
export function inlines(part: Part, _offer: Offer): boolean {
  return (part.type === 'image' || part.type === 'file') && part.source.kind === 'url' && !isStored(part.source.url)
}

function isStored(url: string): boolean {
  return url.startsWith('s3://')
}

/** The mark of a printed part. After a document that is no PDF the API takes no cache point. */
function markOf(part: Part, block: JsonObject | undefined) {
  const document = block?.['document'] as { readonly format?: string } | undefined
  return 'cache' in part && block && (document === undefined || document.format === 'pdf') ? part.cache : undefined
}

/** A text in place of a part without a block, so that the model knows about it. */
function placeholder(text: string): JsonObject {
  return { text: `[${text}]` }
}

/** A block of the system or of the assistant, whose messages have no media. */
function spokenBlock(part: Part, printing: Printing): JsonObject | undefined {
  if (part.type !== 'image' && part.type !== 'file') return partBlock(part, printing)
  printing.losses.add(`messages[].content.${part.type}`, 'only users and tools can show media')
  return placeholder(`${part.type} omitted`)
}

function partBlock(part: Part, printing: Printing): JsonObject | undefined {
  const { losses } = printing
  switch (part.type) {
    case 'text':
      if (part.annotations && part.annotations.length > 0)
        losses.add('messages[].content.annotations', 'citations are not sent back')
      return /\S/.test(part.text) ? { text: part.text } : undefined
    case 'refusal':
      return /\S/.test(part.text) ? { text: part.text } : undefined
    case 'image':
      return imageBlock(part, printing)
    case 'file':
      return fileBlock(part, printing)
    case 'audio':
      losses.add('messages[].content.audio', 'sound is not sent')
      return placeholder('audio omitted')
    case 'opaque':
      if (part.protocol === protocol) return part.value
      losses.add(`messages[].content.${word(part.value.type)}`, `only ${part.protocol} knows it`)
      return undefined
  }
}

function imageBlock({ source, detail }: ImagePart, { losses }: Printing): JsonObject {
  if (detail !== undefined && detail !== 'auto') losses.add('messages[].content.detail', 'images have no detail here')
  if (source.kind === 'url' && isStored(source.url)) {
    const format = images.get(`image/${/\.(\w{1,8})$/.exec(source.url)?.[1]?.toLowerCase()}`) ?? 'jpeg'
    return { image: { format, source: { s3Location: { uri: source.url } } } }
  }
  const format = source.kind === 'data' ? images.get(source.mediaType) : undefined
  if (source.kind === 'data' && format !== undefined) return { image: { format, source: { bytes: source.data } } }
  losses.add('messages[].content.image', reasonAgainst(source, 'images are PNG, JPEG, GIF or WebP here'), source)
  return placeholder('image omitted')
}

function fileBlock(part: FilePart, printing: Printing): JsonObject {
  const { source, title = part.filename, context, citations } = part
  if (source.kind === 'data' && source.mediaType.startsWith('image/'))
    return imageBlock({ type: 'image', source }, printing)
  const document = documentOf(source, part.filename)
  if (!document) {
    printing.losses.add(
      'messages[].content.file',
      reasonAgainst(source, 'documents of this type are not taken'),
      source,
    )
    return placeholder(`file omitted${title === undefined ? '' : `: ${title}`}`)
  }
  return {
    document: {
      ...document,
      name: printing.documents.name(title),
      ...(context === undefined ? {} : { context }),
      ...(citations === undefined ? {} : { citations: { enabled: citations } }),
    },
  }
}

function reasonAgainst({ kind }: MediaSource, type: string): string {
  if (kind === 'id') return 'a file is known only to the vendor that holds it'
  return kind === 'url' ? 'the upstream takes no URLs' : type
}

function documentOf(source: MediaSource, filename = ''): JsonObject | undefined {
  if (source.kind === 'text')
    return { format: documents.get(source.mediaType) ?? 'txt', source: { bytes: base64(source.text) } }
  const ending = /\.(\w{1,8})$/.exec(filename)?.[1]?.toLowerCase()
  const named = [...documents.values()].find((format) => format === ending)
  if (source.kind === 'data') {
    const text = source.mediaType.startsWith('text/') ? 'txt' : undefined
    const format = documents.get(source.mediaType) ?? named ?? text
    return format === undefined ? undefined : { format, source: { bytes: source.data } }
  }
  if (source.kind !== 'url' || !isStored(source.url)) return undefined
  return { format: named ?? 'pdf', source: { s3Location: { uri: source.url } } }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
