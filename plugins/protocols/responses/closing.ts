import type { Asked, Failure, Frame, JsonObject } from '../../../engine/index.ts'
import { errorEvent, eventFailure, responseError } from './failure.ts'
import { responseObject } from './response.ts'
import { number, object, parsedObject, text } from './values.ts'

/** The frame after the last event. */
export const done: Frame = { data: '[DONE]' }

/**
 * The end of a stream that broke where its events were not read, only passed on: `last` is the latest of them, perhaps
 * without its middle, `first` the one that names the response, perhaps cut. Finished items are not gathered: `output`
 * is empty.
 */
export function fail(failure: Failure, asked: Asked, last?: Frame, first?: Frame): readonly Frame[] {
  const next = following(last)
  const event = errorEvent(failure, next)
  return [frameOf(event), frameOf(failedEvent(failure, next + 1, asked, first)), done]
}

/** What an upstream that ended its stream left out: `[DONE]`, and after an `error` alone the failed response. */
export function close(asked: Asked, last?: Frame, first?: Frame): readonly Frame[] {
  if (last?.data === done.data) return []
  const event = last && (last.event ?? 'error') === 'error' ? parsedObject(last.data) : undefined
  const failure = event && (text(event['type']) ?? last?.event) === 'error' ? eventFailure(event) : undefined
  return failure ? [frameOf(failedEvent(failure, following(last), asked, first)), done] : [done]
}

function frameOf(event: JsonObject & { readonly type: string }): Frame {
  return { event: event.type, data: JSON.stringify(event) }
}

const numbered = /"sequence_number"\s{0,8}:\s{0,8}(\d+)/

function following(last: Frame | undefined): number {
  if (!last) return 0
  const event = parsedObject(last.data)
  // Of an event without its middle the number is looked for in what there is.
  const given = event ? number(event['sequence_number']) : numbered.exec(last.data)?.[1]
  return Number(given ?? -1) + 1
}

/** The failed response under the id and with the echoes that its stream began with, else those of what was asked. */
function failedEvent(failure: Failure, sequence: number, asked: Asked, first: Frame | undefined) {
  const response = {
    ...responseObject(asked, { status: 'failed', error: responseError(failure), output: [] }),
    ...begun(first),
    status: 'failed',
    error: responseError(failure),
    output: [],
    usage: null,
  }
  return { type: 'response.failed', sequence_number: sequence, response }
}

function begun(first: Frame | undefined): JsonObject {
  if (!first) return {}
  const whole = object(parsedObject(first.data)?.['response'])
  if (whole) return whole
  // A long request is echoed at length; the id stands at the beginning.
  const id = /"response"\s{0,8}:\s{0,8}\{[^{}[\]]{0,1024}?"id"\s{0,8}:\s{0,8}"([\w-]{1,256})"/.exec(first.data)?.[1]
  return id === undefined ? {} : { id }
}
