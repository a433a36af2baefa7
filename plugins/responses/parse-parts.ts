import type { Annotation, CacheMark, Json, JsonObject, Logprob, MediaSource, Part } from '../../engine/index.ts'
import { defined, isObject } from '../../engine/kit.ts'
import { number, object, objects, protocol, text } from './values.ts'

/** Parses the content of a message or of a tool's output: a text or a list of parts. */
export function parseParts(content: Json | undefined): readonly Part[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.flatMap((part: Json) => (isObject(part) ? [readPart(part)] : parseParts(part)))
}

function readPart(part: JsonObject): Part {
  const cache = cacheMark(part['prompt_cache_breakpoint'])
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return defined({
        type: 'text' as const,
        text: text(part['text']) ?? '',
        annotations: filled(objects(part['annotations']).map(parseAnnotation)),
        logprobs: parseLogprobs(part['logprobs']),
        cache,
      })
    case 'refusal':
      return { type: 'refusal', text: text(part['refusal']) ?? '' }
    case 'input_image': {
      const source = address(text(part['image_url'])) ?? held(text(part['file_id']))
      return source ? defined({ type: 'image' as const, source, detail: text(part['detail']), cache }) : opaque(part)
    }
    case 'input_file': {
      const data = text(part['file_data'])
      const source =
        data === undefined ? (address(text(part['file_url'])) ?? held(text(part['file_id']))) : inline(data)
      return source ? defined({ type: 'file' as const, source, filename: text(part['filename']), cache }) : opaque(part)
    }
    case 'input_audio':
      return readAudio(part)
    default:
      return opaque(part)
  }
}

/** Audio is flat (`audio_data` or `audio_url`, `format`) or nested (`input_audio: { data, format }`). */
function readAudio(part: JsonObject): Part {
  const nested = object(part['input_audio'])
  const format = text(nested?.['format']) ?? text(part['format'])
  const data = text(nested?.['data']) ?? text(part['audio_data'])
  const source: MediaSource | undefined =
    data === undefined
      ? address(text(part['audio_url']))
      : (dataUrl(data) ?? { kind: 'data', mediaType: `audio/${format ?? 'wav'}`, data })
  return source ? defined({ type: 'audio' as const, source, format }) : opaque(part)
}

function opaque(value: JsonObject): Part {
  return { type: 'opaque', protocol, value }
}

function cacheMark(value: Json | undefined): CacheMark | undefined {
  return isObject(value) ? defined({ ttl: text(value['ttl']) }) : undefined
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined
}

const base64 = /^data:([^;,]{1,256})(?:;[^;,]{1,256}){0,16};base64,/

function dataUrl(value: string): MediaSource | undefined {
  const head = base64.exec(value.slice(0, 256))
  return head?.[1] === undefined
    ? undefined
    : { kind: 'data', mediaType: head[1].toLowerCase(), data: value.slice(head[0].length) }
}

function inline(value: string): MediaSource {
  return dataUrl(value) ?? { kind: 'data', mediaType: 'application/octet-stream', data: value }
}

function address(url: string | undefined): MediaSource | undefined {
  return url === undefined ? undefined : (dataUrl(url) ?? { kind: 'url', url })
}

function held(id: string | undefined): MediaSource | undefined {
  return id === undefined ? undefined : { kind: 'id', id, api: protocol }
}

export function parseAnnotation(value: JsonObject): Annotation {
  const url = text(value['url'])
  const start = number(value['start_index'])
  const end = number(value['end_index'])
  if (value['type'] !== 'url_citation' || url === undefined || start === undefined || end === undefined) {
    return { type: 'opaque', protocol, value }
  }
  return { type: 'url', url, title: text(value['title']) ?? '', start, end }
}

/** An annotation in this protocol; undefined for one that only another protocol has. */
export function printAnnotation(annotation: Annotation): JsonObject | undefined {
  if (annotation.type === 'opaque') return annotation.protocol === protocol ? annotation.value : undefined
  const { url, title, start, end } = annotation
  return { type: 'url_citation', url, title, start_index: start, end_index: end }
}

export function parseLogprobs(value: Json | undefined): readonly Logprob[] | undefined {
  return filled(
    objects(value).map((entry) =>
      defined({
        ...token(entry),
        top: Array.isArray(entry['top_logprobs']) ? objects(entry['top_logprobs']).map(token) : undefined,
      }),
    ),
  )
}

function token(entry: JsonObject): Omit<Logprob, 'top'> {
  const bytes = entry['bytes']
  return defined({
    token: text(entry['token']) ?? '',
    logprob: number(entry['logprob']) ?? 0,
    bytes: Array.isArray(bytes) ? bytes.filter((byte) => typeof byte === 'number') : undefined,
  })
}

/** Log probabilities with every key that the protocol requires: `bytes` is a list, never null. */
export function printLogprobs(logprobs: readonly Logprob[] | undefined): JsonObject[] {
  const printed = (entry: Omit<Logprob, 'top'>) => ({
    token: entry.token,
    logprob: entry.logprob,
    bytes: entry.bytes ?? [],
  })
  return (logprobs ?? []).map((entry) => ({ ...printed(entry), top_logprobs: (entry.top ?? []).map(printed) }))
}
