import { defined } from '../../engine/kit.ts'
import type { FilePart, JsonObject, MediaSource, Message, Offer, Part } from '../../engine/index.ts'
import type { Losses } from '../../engine/kit.ts'
import { printAnnotation } from './parse-parts.ts'
import { traitsOf } from './traits.ts'
import type { ResponsesTraits } from './traits.ts'
import { protocol } from './values.ts'

/** Context for printing for an upstream. */
export interface Printing {
  readonly losses: Losses
  readonly traits: ResponsesTraits
}

/** Content of an input message: `output_text` and `refusal` for assistants, `input_*` for other roles. */
export function printParts(content: readonly Part[], role: Message['role'], printing: Printing): JsonObject[] {
  const print = role === 'assistant' ? printSaid : printGiven
  return content.flatMap<JsonObject>((part) => print(part, printing) ?? [])
}

function printSaid(part: Part, { losses }: Printing): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      if (part.cache) losses.add('cache_control', 'the responses protocol caches by prompt_cache_key')
      return {
        type: 'output_text',
        text: part.text,
        annotations: (part.annotations ?? []).flatMap<JsonObject>((annotation) => printAnnotation(annotation) ?? []),
      }
    case 'refusal':
      return { type: 'refusal', refusal: part.text }
    case 'opaque':
      if (part.protocol === protocol) return part.value
  }
  losses.add('messages[].content', `an assistant message cannot hold a part of type ${part.type}`)
  return undefined
}

/**
 * Content of a tool's output: a single text if possible. A failure becomes a text, because there is no field for it.
 */
export function printOutput(content: readonly Part[], error: boolean, printing: Printing): string | JsonObject[] {
  const parts = content.flatMap<JsonObject>((part) => printGiven(part, printing) ?? [])
  const [first] = parts
  const alone = parts.length <= 1 && (first === undefined || first['type'] === 'input_text')
  if (alone) {
    const output = typeof first?.['text'] === 'string' ? first['text'] : ''
    return error ? failed(output) : output
  }
  return error ? [{ type: 'input_text', text: failed('') }, ...parts] : parts
}

function failed(output: string): string {
  if (output === '') return 'Error'
  return output.startsWith('Error') ? output : `Error: ${output}`
}

function printGiven(part: Part, { losses, traits }: Printing): JsonObject | undefined {
  if ('cache' in part && part.cache) losses.add('cache_control', 'the responses protocol caches by prompt_cache_key')
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { type: 'input_text', text: part.text }
    case 'image': {
      if (isForeign(part.source)) return foreign('image', part.source, losses)
      const source = printSource(part.source, 'image_url')
      if (source) return defined({ type: 'input_image', ...source, detail: part.detail })
      break
    }
    case 'file':
      return printFile(part, losses, traits)
    case 'audio': {
      const { source, format } = part
      if (source.kind !== 'data') break
      return {
        type: 'input_audio',
        input_audio: { data: source.data, format: format ?? source.mediaType.replace(/^audio\//, '') },
      }
    }
    case 'opaque':
      if (part.protocol === protocol) return part.value
  }
  const because = `the responses protocol cannot hold this part of type ${part.type}`
  losses.add('messages[].content', because, 'source' in part ? part.source : undefined)
  return undefined
}

/** Audio has no URL in this protocol. Files may have one, but not every server fetches it. */
export function inlines(part: Part, offer: Offer): boolean {
  return part.type === 'audio' || (part.type === 'file' && !traitsOf(offer).file_url)
}

function printFile(part: FilePart, losses: Losses, traits: ResponsesTraits): JsonObject {
  const { source, title, context } = part
  if (part.citations) losses.add('citations', 'the responses protocol cites on its own account')
  if (source.kind === 'text') {
    return { type: 'input_text', text: [title, context, source.text].filter((line) => line !== undefined).join('\n\n') }
  }
  if (isForeign(source)) return foreign('file', source, losses)
  if (title !== undefined && part.filename !== undefined) losses.add('title', 'a file has only a name')
  if (context !== undefined) losses.add('context', 'a file has only a name')
  if (source.kind === 'url' && !traits.file_url) {
    losses.add('file_url', 'the provider does not fetch files')
    return { type: 'input_text', text: `[File: ${part.filename ?? title ?? source.url}]` }
  }
  // Inline files without a name are rejected.
  const filename = part.filename ?? title ?? (source.kind === 'data' ? unnamed(source.mediaType) : undefined)
  return defined({ type: 'input_file', ...printSource(source, 'file_url', 'file_data'), filename })
}

/** Whether a source is a file id of another protocol. */
function isForeign(source: MediaSource): boolean {
  return source.kind === 'id' && source.api !== protocol
}

function foreign(what: string, source: MediaSource, losses: Losses): JsonObject {
  losses.add('file_id', 'a file is known only to the vendor that holds it', source)
  return { type: 'input_text', text: `[${what} omitted]` }
}

function unnamed(mediaType: string): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1)
  return `document.${/^[a-z0-9]{1,8}$/.test(subtype) ? subtype : 'bin'}`
}

function printSource(source: MediaSource, urlField: string, dataField = urlField): JsonObject | undefined {
  switch (source.kind) {
    case 'data':
      return { [dataField]: `data:${source.mediaType};base64,${source.data}` }
    case 'url':
      return { [urlField]: source.url }
    case 'id':
      return { file_id: source.id }
    case 'text':
      return undefined
  }
}
