import type { Flaw, JsonObject } from '../../../../engine/index.ts'
import { isBase64 } from '../wire.ts'
import type { Body } from './wire.ts'

/** What the schema cannot say: images are base64 alone. */
export function check(body: JsonObject): Flaw | undefined {
  const { images } = body as unknown as Body
  const at = images?.findIndex((image) => !isBase64(image)) ?? -1
  return at < 0 ? undefined : { param: `images[${at}]`, reason: 'images must be base64 alone, no URLs' }
}

/** A body of the other envelope is told so. */
export function mistaken(body: JsonObject): string | undefined {
  if (body['input'] === undefined && !Array.isArray(body['questions'])) return undefined
  return 'This is the decisions envelope; send it to /v1/decisions.'
}
