import { defined, failed as failure, unfold } from '../../engine/kit.ts'
import type { Asked, GenerateReply, Json, JsonObject, Printed, Restore } from '../../engine/index.ts'
import { drawn } from './drawn.ts'
import { responseFailure, unreadable } from './errors.ts'
import { parseOutputItem } from './parse-items.ts'
import { nativeFields } from './native-fields.ts'
import { parseStop, spoken } from './stop.ts'
import { usageOf } from './usage.ts'
import { isList, number, object, objects, text } from './values.ts'
import { ResponsesPrinter } from './print-events.ts'

/**
 * Parses a whole response of an upstream. Throws the upstream's failure if the response failed, and
 * `upstream_invalid_response` if the body is no response or has not ended.
 */
export function parseReply(body: Json, restore?: Restore): GenerateReply {
  const response = object(body) ?? {}
  const status = response['status'] ?? 'completed'
  if (status === 'failed' || status === 'cancelled' || object(response['error'])) {
    throw failure({ type: 'failure', failure: responseFailure(response) })
  }
  if (!isList(response['output'])) throw unreadable('it has no output')
  if (status !== 'completed' && status !== 'incomplete') throw unreadable('the response has not ended')
  const output = objects(response['output'])
  const tier = text(response['service_tier'])
  return defined({
    id: text(response['id']),
    model: text(response['model']),
    created: number(response['created_at']),
    items: output.map((item) => parseOutputItem(item, restore)),
    stop: parseStop({ ...response, status }, spoken(output)),
    usage: usageOf(response),
    further: drawn(response),
    rest: nativeFields(response),
    serviceTier: tier === 'auto' ? undefined : tier,
  })
}

/** Prints a whole answer for a client: the response of the equivalent stream's terminal event. */
export function printReply(reply: GenerateReply, asked: Asked): Printed<JsonObject> {
  const writer = new ResponsesPrinter(asked, 'whole')
  for (const event of unfold(reply)) writer.print(event)
  return { body: writer.response, losses: writer.losses, unshown: writer.unshown }
}
