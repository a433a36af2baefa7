import type { Asked, GenerateReply, Json, JsonObject, Logprob, Printed, Restore } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { asText, fold, isObject, unfold } from '../../../engine/kit.ts'
import { GeminiParser } from './parse-events.ts'
import { AnswerPrinter, chunk } from './print-answer.ts'
import type { Addition } from './print-answer.ts'

/** Parses a whole answer as a stream of one chunk. Throws `upstream_invalid_response` for a body that is no answer. */
export function parseReply(body: Json, restore?: Restore): GenerateReply {
  if (!isObject(body) || (!Array.isArray(body.candidates) && !isObject(body.promptFeedback)))
    throw new GatewayError('upstream_invalid_response', { reason: 'the answer has no candidates' })
  const reader = new GeminiParser(restore)
  return fold([...reader.take(body), ...reader.end()])
}

/** Prints a whole answer as the chunks of its stream in one. */
export function printReply(reply: GenerateReply, asked: Asked): Printed<JsonObject> {
  const printer = new AnswerPrinter(asked)
  const parts: JsonObject[] = []
  const logprobs: Logprob[] = []
  let end: Addition['end']
  for (const event of unfold(reply)) {
    if (event.type === 'failure') continue
    for (const addition of printer.print(event)) {
      for (const part of addition.parts) join(parts, part)
      for (const one of addition.logprobs ?? []) logprobs.push(one)
      end ??= addition.end
    }
  }
  const all = { parts, ...(logprobs.length > 0 ? { logprobs } : {}), ...(end ? { end } : {}) }
  return { body: chunk(printer.head, all), losses: printer.losses }
}

/** Adds a part. Pieces of one text are one part; the empty part that ends a stream is left out after others. */
function join(parts: JsonObject[], part: JsonObject): void {
  const last = parts.at(-1)
  const follows =
    last && typeof last.text === 'string' && typeof part.text === 'string' && last.thought === part.thought
  if (follows && last.thoughtSignature === undefined && (part.thought || part.thoughtSignature === undefined))
    parts[parts.length - 1] = { ...last, ...part, text: asText(last.text) + asText(part.text) }
  else if (!last || part.text !== '' || part.thoughtSignature !== undefined) parts.push(part)
}
