import { isObject, objectAfter, parsedObject, tokenUsage } from '../../../engine/kit.ts'
import type { OutputKind } from '../../../engine/kit.ts'
import type { Codec, Json, Metered } from '../../../engine/index.ts'

/**
 * Reads `usage` and `model` of an answer. The last event of a stream has one of the types `ends`, or, for servers with
 * their own event shapes, is followed by `[DONE]`.
 */
export function meter(ends: readonly string[], output: OutputKind = 'text'): Codec['meter'] {
  return {
    reply: (body) => metered(body, output),
    stream(_first, last) {
      const event = last.findLast(({ data }) => data.startsWith('{'))
      const body = event && parsedObject(event.data)
      const ended = isObject(body) && ends.some((type) => type === body['type'])
      const complete = ended || last.at(-1)?.data === '[DONE]'
      return { ...(complete && body ? metered(body, output) : {}), complete }
    },
  }
}

/**
 * Like `meter`, for streams whose last event contains a whole image. That event is larger than the tail that a meter
 * receives, so a tail without a whole event means that it arrived. Its usage follows the image, and its output tokens
 * are those of the image (platform.openai.com/docs/api-reference/images-streaming).
 */
export function pictureMeter(end: string): Codec['meter'] {
  const plain = meter([end], 'image')
  return {
    ...plain,
    reply: (body) => ({ ...plain.reply(body), ...svgUsage(body) }),
    stream: (first, last) => (last.length === 0 ? { complete: true } : plain.stream(first, last)),
    torn(rest) {
      const usage = tokenUsage(objectAfter(rest, '"usage":'), 'image')
      return usage && { usage }
    },
    delivers: [end],
  }
}

/** The usage of the model that wrote the SVG, which has its own price (`svg_usage`). */
function svgUsage(body: Json): Pick<Metered, 'further'> {
  const told = isObject(body) ? body['svg_usage'] : undefined
  const usage = tokenUsage(told)
  const model = isObject(told) ? told['model'] : undefined
  return usage && typeof model === 'string' ? { further: [{ model, usage }] } : {}
}

function metered(body: Json, output: OutputKind): Metered {
  if (!isObject(body)) return {}
  const usage = tokenUsage(body['usage'], output)
  const { model } = body
  return { ...(usage ? { usage } : {}), ...(typeof model === 'string' ? { model } : {}) }
}
