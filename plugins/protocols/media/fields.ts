import type { Head, JsonObject } from '../../../engine/index.ts'

/** Pieces of the schemas here. */
export const text = { type: 'string' } as const
export const textOrNull = { type: ['string', 'null'] } as const
export const model = { type: 'string', minLength: 1 } as const
/** Numbers and flags are texts in a form. */
export const numberOrText = { type: ['number', 'string', 'null'] } as const
export const flagOrText = { enum: [true, false, null, 'true', 'false', 'True', 'False', '1', '0'] } as const
/** What stands for a file of a form: its content stays in the client's bytes. */
export const file = {
  type: 'object',
  required: ['filename', 'mediaType', 'bytes'],
  properties: { filename: text, mediaType: text, bytes: { type: 'integer', minimum: 0 } },
} as const

/** The head of a body whose flag `stream` may come as the text of a form. */
export function head({ model, stream }: JsonObject): Head {
  const streams = typeof stream === 'string' ? /^(true|1)$/i.test(stream) : stream === true
  return { model: model as string, stream: streams, background: false }
}
