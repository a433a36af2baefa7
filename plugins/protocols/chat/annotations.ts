import { isObject } from '../../../engine/kit.ts'
import type { Annotation, Json, JsonObject, Logprob } from '../../../engine/index.ts'
import { protocol } from './wire.ts'

/** A `url_citation`, whose fields are nested one level deeper here than elsewhere; other annotations stay unchanged. */
export function parseAnnotation(value: JsonObject): Annotation {
  const citation = value['url_citation']
  if (value['type'] !== 'url_citation' || !isObject(citation) || typeof citation['url'] !== 'string') {
    return { type: 'opaque', protocol, value }
  }
  const { url, title, start_index: start, end_index: end } = citation
  return { type: 'url', url, title: typeof title === 'string' ? title : '', start: indexOf(start), end: indexOf(end) }
}

/** The annotation, moved by `by` characters; undefined for one that only another protocol has. */
export function printAnnotation(annotation: Annotation, by: number): JsonObject | undefined {
  if (annotation.type === 'opaque') return annotation.protocol === protocol ? annotation.value : undefined
  const { url, title, start, end } = annotation
  return { type: 'url_citation', url_citation: { url, title, start_index: start + by, end_index: end + by } }
}

export function parseLogprobs(list: Json | undefined): readonly Logprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined
  return list.filter(isObject).map((entry) => ({
    ...single(entry),
    ...(Array.isArray(entry['top_logprobs']) ? { top: entry['top_logprobs'].filter(isObject).map(single) } : {}),
  }))
}

export function printLogprobs(list: readonly Logprob[]): Json[] {
  return list.map(({ token, logprob, bytes, top }) => ({
    token,
    logprob,
    bytes: bytes ?? null,
    top_logprobs: (top ?? []).map((other) => ({
      token: other.token,
      logprob: other.logprob,
      bytes: other.bytes ?? null,
    })),
  }))
}

function single({ token, logprob, bytes }: JsonObject): Omit<Logprob, 'top'> {
  return {
    token: typeof token === 'string' ? token : '',
    logprob: Number(logprob),
    ...(bytes === null || Array.isArray(bytes) ? { bytes: bytes as readonly number[] | null } : {}),
  }
}

function indexOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}
