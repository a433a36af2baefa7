import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { ClientRequest } from '../../engine/kit.ts'
import type { Ingress } from '../../engine/index.ts'
import { rpcCodeOf } from './codec.ts'
import { readMessage, toolOf } from './message.ts'
import type { Message } from './message.ts'
import { tellMessage } from './told-message.ts'

declare module '../../engine/index.ts' {
  interface Slots {
    'mcp.message': Message
  }
}

/** Most bytes of a message, unless `request_policy.max_body_bytes` is less. */
const longest = 16 * 1024 * 1024

const json = 'application/json'

/** Reads a message of a client, which is relayed as it came. */
export default defineStage({
  name: 'read-message',
  summary: 'Read the JSON-RPC message of a client.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['request', 'mcp.message'],
  settles: ['outcome'],
  readsBody: true,
  uses: ['request_policy'],
  build: (_config, host, { request_policy: { max_body_bytes: most } }) => {
    const codec = host.codec('mcp')
    const limit = Math.min(most, longest)
    return async ({ ingress }, scope, settle) => {
      const { headers } = ingress
      settle(({ outcome: { status } }, { error }) => {
        if (error && error.code !== 'client_closed') scope.note('error_code', rpcCodeOf({ ...error, status }))
      })
      requireTypes(headers)
      const message = readMessage(await ingress.body(limit))
      tellMessage(scope, message, headers)
      if (message.kind !== 'response') scope.note('method', message.method.slice(0, longestNote))
      const tool = toolOf(message)
      if (tool !== undefined) scope.note('tool', tool.slice(0, longestNote))
      const { raw, value: body } = message
      return { request: new ClientRequest(codec, { raw, headers, contentType: json, body }), 'mcp.message': message }
    }
  },
})

/** Most characters of a client's word in a row. */
const longestNote = 256

/** A client must take both kinds of answers (MCP 2025-11-25, basic/transports, "Sending Messages to the Server"). */
function requireTypes({ accept = '', 'content-type': type = '' }: Ingress['headers']): void {
  const accepted = accept.toLowerCase()
  if (!accepted.includes(json) || !accepted.includes('text/event-stream'))
    throw new GatewayError('not_acceptable', { expected: `${json} and text/event-stream` })
  const [given = ''] = type.split(';', 1)
  if (given.trim().toLowerCase() !== json) throw new GatewayError('unsupported_media_type', { given, expected: json })
}
