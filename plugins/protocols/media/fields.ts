import type { Head, JsonObject } from '../../../engine/index.ts'

/** Shared parts of the schemas of media. */
export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const model = { type: 'string', minLength: 1 } as const
/** Numbers and booleans are strings in a form. */
export const numberOrText = { type: ['number', 'string', 'null'] } as const
export const flagOrText = { enum: [true, false, null, 'true', 'false', 'True', 'False', '1', '0'] } as const
/** Placeholder of a file in a form, whose content stays in the client's bytes. */
export const file = {
  type: 'object',
  required: ['filename', 'mediaType', 'bytes'],
  properties: { filename: text, mediaType: text, bytes: { type: 'integer', minimum: 0 } },
} as const

/** The head of a body whose `stream` may be the string of a form field. */
export function head({ model, stream }: JsonObject): Head {
  const streams = typeof stream === 'string' ? /^(true|1)$/i.test(stream) : stream === true
  return { model: model as string, stream: streams, background: false }
}
