import type { JsonObject } from '../../../engine/index.ts'
import { errorEvent } from '../errors.ts'
import type { StreamEvent } from '../events.ts'
import { object, objects, text } from '../values.ts'
import { replayItem } from './replay-items.ts'

/** The events that a stream of this response has or would have had, numbered from 0. */
export function* replay(response: JsonObject): Generator<StreamEvent> {
  let sequence = 0
  for (const { type, ...fields } of events(response)) yield { type, sequence_number: sequence++, ...fields }
}

type Event = JsonObject & { readonly type: string }

function* events(response: JsonObject): Generator<Event> {
  const begun = beginning(response)
  yield { type: 'response.created', response: begun }
  yield { type: 'response.in_progress', response: begun }
  for (const [index, item] of objects(response['output']).entries()) yield* replayItem(item, index)
  const { status } = response
  // There is no event for a cancelled response: its stream just ends.
  if (status !== 'completed' && status !== 'incomplete' && status !== 'failed') return
  if (status === 'failed') yield failure(response)
  yield { type: `response.${status}`, response }
}

/** The response in its state before the answer began. */
function beginning(response: JsonObject): JsonObject {
  return {
    ...response,
    status: 'in_progress',
    completed_at: null,
    error: null,
    incomplete_details: null,
    output: [],
    usage: null,
  }
}

function failure(response: JsonObject): Event {
  const error = object(response['error'])
  const code = text(error?.['code']) ?? 'server_error'
  const message = text(error?.['message']) ?? 'The response failed.'
  const type = code === 'server_error' ? code : 'invalid_request_error'
  const { sequence_number: _number, ...event } = errorEvent({ status: 500, code, type, message, param: null }, 0)
  return event
}
