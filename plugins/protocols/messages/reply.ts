import type { Asked, GenerateReply, Json, JsonObject, Printed, Restore } from '../../../engine/index.ts'
import { GatewayError } from '../../../engine/index.ts'
import { Losses, fold, isObject } from '../../../engine/kit.ts'
import { MessagesParser } from './parse-events.ts'
import { replyBlocks } from './reply-blocks.ts'
import { messageId, ownRest, replyUsage } from './reply-fields.ts'
import { printStop } from './stop.ts'
import { mergeUsage } from './usage.ts'
import { isForeignSearch, searchCounter } from './web-search.ts'
import { protocol } from './wire.ts'

/** Parses a whole answer as the equivalent stream. Throws `upstream_invalid_response` for a body that is no answer. */
export function parseReply(body: Json, restore?: Restore): GenerateReply {
  if (!isObject(body) || !Array.isArray(body.content))
    throw new GatewayError('upstream_invalid_response', { reason: 'the answer has no list of content' })
  const reader = new MessagesParser(restore)
  const wire: JsonObject[] = [
    { type: 'message_start', message: body },
    ...body.content.flatMap((block: Json, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_stop' },
  ]
  return fold(wire.flatMap((event) => reader.take(event)))
}

/** Prints a whole answer for a client. */
export function printReply(reply: GenerateReply, asked: Asked): Printed<JsonObject> {
  const losses = new Losses(protocol)
  const { usage: counters, ...fields } = ownRest(reply.rest, losses)
  const refused = reply.items.some(
    (item) => item.type === 'message' && item.content.some(({ type }) => type === 'refusal'),
  )
  const stop = refused && reply.stop === 'end' ? 'refusal' : reply.stop
  const body = {
    ...fields,
    id: messageId(asked),
    type: 'message',
    role: 'assistant',
    model: reply.model ?? asked.model,
    content: reply.items.flatMap((item) => replyBlocks(item, asked, losses)),
    stop_reason: printStop(stop),
    stop_sequence: reply.stopSequence ?? null,
    usage: mergeUsage({ ...replyUsage(reply), ...searchCounter(reply.items.filter(isForeignSearch).length) }, counters),
  }
  return { body, losses: losses.list() }
}
