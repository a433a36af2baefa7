import { randomUUID } from 'node:crypto'
import { defineCodec } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { ErrorDialect, JsonObject, SocketDialect } from '../../engine/index.ts'

/**
 * The error event of a session (platform.openai.com/docs/api-reference/realtime-server-events/error). A provider that
 * cannot be reached is an `upstream_error` like one that refuses; the request log has the exact code.
 */
const error: ErrorDialect = {
  parse(status, body) {
    const told = isObject(body) && isObject(body['error']) ? body['error'] : body
    const message = isObject(told) && typeof told['message'] === 'string' ? told['message'] : ''
    return { status, code: null, type: 'server_error', message, param: null }
  },
  print: ({ code, type, message, param }) => ({
    type: 'error',
    event_id: `event_${randomUUID().replaceAll('-', '')}`,
    error: { type, code: code?.startsWith('upstream_') ? 'upstream_error' : code, message, param, event_id: null },
  }),
}

/** An error is the whole of what the gateway itself says. */
const socket: SocketDialect = {
  fields: [],
  request: () => ({}),
  printer: () => ({
    event: ({ data }) => data,
    whole: (_status, body) => JSON.stringify(body),
    end: () => undefined,
    ended: false,
  }),
}

/** `WS /v1/realtime`: sessions of text and audio. Its request is the query of the upgrade; its messages are relayed. */
export default defineCodec({
  protocol: 'realtime',
  operation: 'realtime',
  summary: 'Sessions of text and audio over a WebSocket.',
  address: { path: '/realtime', socket: true },
  subprotocol: 'realtime',
  socket,
  schema: {
    type: 'object',
    required: ['model'],
    properties: { model: { type: 'string', minLength: 1 } },
  },
  head: (query: JsonObject) => ({ model: query['model'] as string, stream: true, background: false }),
  error,
  meter: {
    reply: () => ({}),
    stream: () => ({ complete: true }),
    // Nothing is used before the session begins.
    units: () => ({ seconds: 0 }),
  },
})
