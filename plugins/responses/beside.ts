import type { Head, JsonObject } from '../../engine/index.ts'
import { error } from './errors.ts'
import { schema } from './schema.ts'

/** `input` where it may be left out, because there is something else to go on from. */
export const input = { ...schema.properties.input, type: ['string', 'array', 'null'] } as const

/** What the endpoints beside that of responses have in common: they answer whole, and while the client waits. */
export const beside = {
  head: (body: JsonObject): Head => ({ model: body['model'] as string, stream: false, background: false }),
  error,
}
