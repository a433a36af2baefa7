import type { JsonObject, MediaSource, Part } from '../../../engine/index.ts'
import { word } from '../../../engine/kit.ts'
import type { Printing } from './printing.ts'
import { protocol } from './wire.ts'

/** The parts of a message or of a tool's result, without empty texts. */
export function printParts(parts: readonly Part[], printing: Printing): JsonObject[] {
  return parts.map((part) => printPart(part, printing)).filter((part) => part !== undefined)
}

function printPart(part: Part, printing: Printing): JsonObject | undefined {
  const { losses } = printing
  switch (part.type) {
    case 'text':
      if (part.annotations) losses.add('contents[].parts.annotations', 'the protocol takes no citations')
      return part.text === '' ? undefined : { text: part.text }
    case 'refusal':
      return part.text === '' ? undefined : { text: part.text }
    case 'image':
      if (part.detail !== undefined && part.detail !== 'auto')
        losses.add('contents[].parts.detail', 'images have no such detail here')
      return media('image', part.source, printing)
    case 'file': {
      const { source, filename, title = filename, context, citations } = part
      if (context !== undefined) losses.add('contents[].parts.context', 'files have no context here')
      if (citations === true) losses.add('contents[].parts.citations', 'the protocol cites no files')
      if (title !== undefined && source.kind !== 'id')
        losses.add(`contents[].parts.${part.title === undefined ? 'filename' : 'title'}`, 'files have no names here')
      return media(title === undefined ? 'file' : `file: ${title}`, source, printing)
    }
    case 'audio':
      return media('audio', part.source, printing)
    case 'opaque':
      if (part.protocol === protocol) return part.value
      losses.add(`contents[].parts.${word(part.value.type)}`, `only ${part.protocol} knows it`)
      return undefined
  }
}

/** A medium as bytes, or by its address. `what` names it to the model where neither is known. */
function media(what: string, source: MediaSource, { losses }: Printing): JsonObject {
  switch (source.kind) {
    case 'data':
      return { inlineData: { mimeType: source.mediaType, data: source.data } }
    case 'text':
      return { inlineData: { mimeType: source.mediaType, data: Buffer.from(source.text).toString('base64') } }
    case 'url':
      return { fileData: { fileUri: source.url } }
    case 'id':
      if (source.api === protocol) return { fileData: { fileUri: source.id } }
      losses.add('contents[].parts.file_id', 'a file is known only to the vendor that holds it', source)
      return { text: `[${what} omitted]` }
  }
}

/** Whether a part of a printed body is a picture, a sound or a file. */
export function isMedia(part: JsonObject): boolean {
  return part.inlineData !== undefined || part.fileData !== undefined
}
