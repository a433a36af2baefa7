import { defined, isObject, word } from '../../../engine/kit.ts'
import type { CacheMark, FilePart, ImagePart, JsonObject, MediaSource, Offer, Part } from '../../../engine/index.ts'
import type { Losses } from '../../../engine/kit.ts'
import { traitsOf } from './traits.ts'
import type { ChatTraits } from './traits.ts'
import { protocol } from './wire.ts'
import type { Cached, Content, ContentPart } from './wire.ts'

/** File ids are the same as in the responses protocol. */
const fileApi = 'responses'

/** Parses the content of a message into parts; an empty string and null have none. */
export function parseContent(content: Content | undefined): readonly Part[] {
  if (content === undefined || content === null || content === '') return []
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(parsePart)
}

/** The cache mark of a part, a message or a tool. */
export function cacheOf({ cache_control: common, prompt_cache_breakpoint: own }: Cached): { cache?: CacheMark } {
  const mark = common ?? own
  if (!mark) return {}
  return { cache: typeof mark.ttl === 'string' ? { ttl: mark.ttl } : {} }
}

function parsePart(part: ContentPart): Part {
  const cache = cacheOf(part)
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part['text'] as string, ...cache }
    case 'refusal':
      return { type: 'refusal', text: part['refusal'] as string }
    case 'image_url':
      return parseImage(part['image_url'] as string | { url: string; detail?: string | null }, cache)
    case 'input_audio': {
      const { data, format } = part['input_audio'] as { data: string; format: string }
      return { type: 'audio', source: { kind: 'data', mediaType: `audio/${format}`, data }, format }
    }
    case 'file':
      return parseFile(part, cache)
    default:
      return { type: 'opaque', protocol, value: part }
  }
}

function parseImage(image: string | { url: string; detail?: string | null }, cache: { cache?: CacheMark }): ImagePart {
  const { url, detail } = typeof image === 'string' ? { url: image } : image
  return { type: 'image', source: located(url), ...(typeof detail === 'string' ? { detail } : {}), ...cache }
}

function parseFile(part: ContentPart, cache: { cache?: CacheMark }): Part {
  const {
    file_data: data,
    file_id: id,
    filename,
  } = part['file'] as { file_data?: string; file_id?: string; filename?: string }
  const named = typeof filename === 'string' ? { filename } : {}
  if (typeof data === 'string') return { type: 'file', source: fileSource(data), ...named, ...cache }
  if (typeof id === 'string') return { type: 'file', source: { kind: 'id', id, api: fileApi }, ...named, ...cache }
  return { type: 'opaque', protocol, value: part }
}

function fileSource(data: string): MediaSource {
  if (/^(data|https?):/.test(data)) return located(data)
  return { kind: 'data', mediaType: 'application/octet-stream', data }
}

/** Media type and base64 of a data URL, or the URL itself. */
function located(url: string): MediaSource {
  const comma = url.startsWith('data:') ? url.indexOf(',') : -1
  const head = url.slice('data:'.length, Math.max(comma, 0))
  if (!head.endsWith(';base64')) return { kind: 'url', url }
  return { kind: 'data', mediaType: head.slice(0, -';base64'.length), data: url.slice(comma + 1) }
}

/** Context for printing a part. */
export interface PartPrinting {
  readonly traits: ChatTraits
  readonly losses: Losses
}

/**
 * Prints a part of a user message. A part that the upstream does not accept becomes a short text; undefined: nothing.
 */
export function printPart(part: Part, printing: PartPrinting): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...printCache(part.cache, printing) }
    case 'refusal':
      return { type: 'text', text: part.text }
    case 'image':
      return printImage(part, printing)
    case 'file':
      return printFile(part, printing)
    case 'audio': {
      const { source, format } = part
      if (printing.traits.audio && source.kind === 'data') {
        return { type: 'input_audio', input_audio: { data: source.data, format: format ?? subtype(source.mediaType) } }
      }
      return omitted('audio', 'the provider does not take it', source, printing)
    }
    case 'opaque':
      if (part.protocol === protocol) return part.value
      printing.losses.add(wordOf(part.value), `only ${part.protocol} has it`)
      return undefined
  }
}

/** Files and audio have no URLs in this protocol. */
export function inlines(part: Part, offer: Offer): boolean {
  const { files, audio } = traitsOf(offer.traits)
  return (part.type === 'file' && files) || (part.type === 'audio' && audio)
}

/** The cache mark, if the upstream accepts it. */
export function printCache(cache: CacheMark | undefined, { traits, losses }: PartPrinting): JsonObject {
  if (!cache) return {}
  if (traits.cache_control) return { cache_control: { type: 'ephemeral', ...cache } }
  losses.add('cache_control', 'the provider does not take it')
  return {}
}

/** The name of a foreign object in a loss. */
export function wordOf(value: JsonObject): string {
  return typeof value['type'] === 'string' ? word(value['type']) : 'content'
}

function printImage({ source, detail, cache }: ImagePart, printing: PartPrinting): JsonObject {
  if (!printing.traits.images) return omitted('image', 'the provider does not take images', source, printing)
  const url = source.kind === 'data' ? dataUrl(source) : source.kind === 'url' ? source.url : undefined
  if (url === undefined) return omitted('image', 'this protocol has no ids of images', source, printing)
  return {
    type: 'image_url',
    image_url: defined({ url, detail: printDetail(detail, printing) }),
    ...printCache(cache, printing),
  }
}

function printDetail(detail: string | undefined, { losses }: PartPrinting): string | undefined {
  if (detail !== 'original') return detail
  losses.add('detail', 'this protocol goes no further than high')
  return 'high'
}

function printFile(part: FilePart, printing: PartPrinting): JsonObject {
  const { source, title, context, filename, cache } = part
  if (part.citations) printing.losses.add('citations', 'this protocol cannot ask for them')
  if (source.kind === 'text') {
    const text = [title, context, source.text].filter((line) => line !== undefined).join('\n\n')
    return { type: 'text', text, ...printCache(cache, printing) }
  }
  if (source.kind === 'url') {
    printing.losses.add('file_url', 'this protocol has no addresses of files')
    return { type: 'text', text: `[file: ${source.url}]` }
  }
  if (!printing.traits.files) return omitted('file', 'the provider does not take files', source, printing)
  if (source.kind === 'id' && source.api !== fileApi) {
    printing.losses.add('file_id', 'a file is known only to the vendor that holds it', source)
    return { type: 'text', text: '[file omitted]' }
  }
  if (context !== undefined) printing.losses.add('document.context', 'this protocol has no such field')
  const file =
    source.kind === 'id'
      ? defined({ file_id: source.id, filename })
      : { filename: filename ?? title ?? `file.${subtype(source.mediaType)}`, file_data: dataUrl(source) }
  return { type: 'file', file, ...printCache(cache, printing) }
}

function omitted(what: string, because: string, medium: MediaSource, { losses }: PartPrinting): JsonObject {
  losses.add(what, because, medium)
  return { type: 'text', text: `[${what} omitted]` }
}

function dataUrl({ mediaType, data }: { mediaType: string; data: string }): string {
  return `data:${mediaType};base64,${data}`
}

function subtype(mediaType: string): string {
  return /\/([\w.+-]+)/.exec(mediaType)?.[1] ?? 'bin'
}

/** The text of a list of printed parts, if all of them are text. */
export function plainText(parts: readonly JsonObject[], separator: string): string | undefined {
  const plain = parts.every((part) => part['type'] === 'text' && !isObject(part['cache_control']))
  return plain ? parts.map((part) => part['text'] as string).join(separator) : undefined
}
