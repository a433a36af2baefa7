import { GatewayError } from '../../engine/index.ts'
import { defined, parsedObject, rowOf } from '../../engine/kit.ts'
import type { Frame, Json, JsonObject, SocketDialect, SocketPrinter } from '../../engine/index.ts'
import { cutShort, error, eventFailure } from './errors.ts'
import { number, object, text } from './values.ts'

/**
 * Responses over a WebSocket. A message of the type `response.create` is the body of a streamed request, and the events
 * of the stream are sent back, one per message. `stream_id` names the turn and is repeated on each of them.
 * `generate: false` requests a response that only stores its input.
 */
export const socket: SocketDialect = {
  fields: ['type', 'stream', 'stream_options', 'background', 'stream_id', 'generate'],
  request(fields) {
    const { type, stream_id: lane, generate } = fields
    if (type !== 'response.create')
      throw new GatewayError('invalid_request', { param: 'type', reason: 'A message must be a "response.create".' })
    if (lane !== undefined && lane !== null && laneOf(fields) === undefined)
      throw new GatewayError('invalid_value', { param: 'stream_id', reason: `it must match ${laneForm.source}` })
    if (generate !== undefined && generate !== null && typeof generate !== 'boolean')
      throw new GatewayError('invalid_value', { param: 'generate', reason: 'it must be true or false' })
    return { stream: true }
  },
  printer: (fields) => new TurnWriter(laneOf(fields)),
}

const laneForm = /^[A-Za-z0-9_.-]{1,256}$/

function laneOf({ stream_id: lane }: JsonObject): string | undefined {
  return typeof lane === 'string' && laneForm.test(lane) ? lane : undefined
}

const terminal = new Set(['error', 'response.completed', 'response.incomplete', 'response.failed'])

/** Prints one turn. It ends with the first terminal event; later events are dropped. */
class TurnWriter implements SocketPrinter {
  readonly #lane: string | undefined
  /** Data of the last event. */
  #last: string | undefined
  ended = false

  constructor(lane: string | undefined) {
    this.#lane = lane
  }

  event(frame: Frame): string | undefined {
    if (this.ended) return undefined
    const type = typeOf(frame)
    if (type === undefined) return undefined
    if (type === 'error') return this.#failed(parsedObject(frame.data) ?? {})
    this.ended = terminal.has(type)
    this.#last = frame.data
    return this.#onLane(frame.data)
  }

  whole(status: number, body: Json, headers: Readonly<Record<string, string>>): string | undefined {
    if (this.ended) return undefined
    if (status >= 400) return this.#error(status, object(object(body)?.['error']) ?? {}, this.#next(), headers)
    this.ended = true
    const type = `response.${text(object(body)?.['status']) ?? 'completed'}`
    return this.#print({ type, sequence_number: this.#next(), response: body })
  }

  end(): string | undefined {
    const failure = cutShort()
    return this.whole(failure.status, error.print(failure, ''), {})
  }

  /** An `error` event, flat or nested. */
  #failed(event: JsonObject): string {
    const failure = eventFailure({ ...event, type: 'error' }) ?? cutShort()
    const { code, message, param } = failure
    const own = code === null ? undefined : rowOf(code)
    const type = text(object(event['error'])?.['type']) ?? own?.type ?? failure.type
    const status = own?.status ?? (type === 'server_error' ? 500 : failure.status)
    const sequence = number(event['sequence_number']) ?? this.#next()
    return this.#error(status, { code, type, message, param }, sequence, {})
  }

  #error(
    status: number,
    { code, type, message, param }: JsonObject,
    sequence: number,
    headers: Readonly<Record<string, string>>,
  ): string {
    this.ended = true
    const shown = defined({ 'retry-after': headers['retry-after'], 'x-should-retry': headers['x-should-retry'] })
    return this.#print({
      type: 'error',
      // A provider's failure has status 500 on a socket, unlike over HTTP.
      status: status === 502 || status === 504 ? 500 : status,
      sequence_number: sequence,
      error: {
        type: type ?? 'server_error',
        // A message that is no JSON has no body, so it is an invalid request.
        code: code === 'invalid_json' ? 'invalid_request' : (code ?? type ?? 'server_error'),
        message: message ?? 'The response failed.',
        param: param ?? null,
        ...(Object.keys(shown).length > 0 ? { headers: shown } : {}),
      },
    })
  }

  /** The number of the event after the last one. */
  #next(): number {
    const last = this.#last === undefined ? undefined : number(parsedObject(this.#last)?.['sequence_number'])
    return last === undefined ? 0 : last + 1
  }

  #print(event: JsonObject): string {
    return this.#onLane(JSON.stringify(event))
  }

  /** The text of an event with the `stream_id` of its turn. */
  #onLane(data: string): string {
    return this.#lane === undefined ? data : `${data.slice(0, data.lastIndexOf('}'))},"stream_id":"${this.#lane}"}`
  }
}

/** The type of an event; undefined for other frames. The data is parsed only if the frame has no name. */
function typeOf({ event = '', data }: Frame): string | undefined {
  if (data.startsWith('{"') && (event === 'error' || event.startsWith('response.'))) return event
  return data === '[DONE]' ? undefined : text(parsedObject(data)?.['type'])
}
