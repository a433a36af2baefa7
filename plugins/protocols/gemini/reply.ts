import type { GenerateReply, Json, Restore } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { fold, isObject } from '../../../engine/kit.ts'
import { GeminiParser } from './parse-events.ts'

/** Parses a whole answer as a stream of one chunk. Throws `upstream_invalid_response` for a body that is no answer. */
export function parseReply(body: Json, restore?: Restore): GenerateReply {
  if (!isObject(body) || (!Array.isArray(body.candidates) && !isObject(body.promptFeedback)))
    throw new GatewayError('upstream_invalid_response', { reason: 'the answer has no candidates' })
  const reader = new GeminiParser(restore)
  return fold([...reader.take(body), ...reader.end()])
}
