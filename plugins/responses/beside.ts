import type { Head, JsonObject } from '../../engine/index.ts'
import { error } from './errors.ts'
import { schema } from './schema.ts'

/** An optional `input`, for endpoints that may continue a stored conversation instead. */
export const input = { ...schema.properties.input, type: ['string', 'array', 'null'] } as const

/** Shared parts of the auxiliary endpoints, which answer whole and in the foreground. */
export const beside = {
  head: (body: JsonObject): Head => ({ model: body['model'] as string, stream: false, background: false }),
  error,
}
