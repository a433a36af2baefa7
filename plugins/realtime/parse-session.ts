import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { BytesBody, ClientRequest } from '../../engine/kit.ts'

/** Names under which clients might send a key in a query, where it would end up in logs. */
const keys = [
  'api_key',
  'api-key',
  'apikey',
  'key',
  'token',
  'access_token',
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'openai-insecure-api-key',
]

/** Reads the request for a session from the query of its upgrade; all other fields of the query go upstream as they are. */
export default defineStage({
  name: 'parse-session',
  summary: 'Read the model of a realtime session from the query of its address.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['request'],
  build: (_config, host) => {
    const codec = host.codec(host.pipeline.protocol ?? 'realtime')
    return ({ ingress: { query, headers } }) => {
      const [model, second] = query.getAll('model')
      if (query.has('call_id'))
        throw refused('call_id', 'Calls cannot be joined here: a session belongs to the connection that opened it.')
      if (model === undefined || model === '') throw refused('model', 'The address needs a model: ?model=<name>.')
      if (second !== undefined) throw refused('model', 'The address names more than one model.')
      const key = keys.find((name) => query.has(name))
      if (key !== undefined)
        throw refused(key, 'Send the key as "authorization: Bearer <key>" or as a subprotocol, never in the address.')
      const body = { model }
      const raw = new BytesBody(Buffer.alloc(0))
      return { request: new ClientRequest(codec, { raw, headers, contentType: 'application/json', body }) }
    }
  },
})

function refused(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request_error', {}, { param, message })
}
