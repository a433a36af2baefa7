import type { Head, JsonObject } from '../../../engine/index.ts'

/** Shared parts of the schemas of media. */
export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const model = { type: 'string', minLength: 1 } as const
/** Numbers and booleans are strings in a form. */
export const numberOrText = { type: ['number', 'string', 'null'] } as const
export const flagOrText = { enum: [true, false, null, 'true', 'false', 'True', 'False', '1', '0'] } as const
/** A text of a form that only the provider reads: a repeated one would be a list. */
export const once = { type: ['string', 'number', 'boolean', 'object', 'null'] } as const
/** Fields that only the provider reads, and so checks. They are named for defaults, which reach who knows them. */
export function unread(...names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, {}]))
}
/** Placeholder of a file in a form, whose content stays in the client's bytes. */
export const file = {
  type: 'object',
  contentMediaType: 'application/octet-stream',
  examples: [{ filename: 'my-file', mediaType: 'application/octet-stream', bytes: 0 }],
  required: ['filename', 'mediaType', 'bytes'],
  properties: { filename: text, mediaType: text, bytes: { type: 'integer', minimum: 0 } },
} as const

/** The head of a body whose `stream` may be the string of a form field. */
export function head({ model, stream }: JsonObject): Head {
  const streams = typeof stream === 'string' ? /^(true|1)$/i.test(stream) : stream === true
  return { model: model as string, stream: streams, background: false }
}
