import { defineClientCodec } from '../../engine/index.ts'
import type { Failure, Json, JsonObject } from '../../engine/index.ts'

declare module '../../engine/index.ts' {
  interface Operations {
    mcp: { request: never; reply: never; event: never }
  }
}

/** Codes of JSON-RPC errors (JSON-RPC 2.0, section 5.1; MCP 2026-07-28, schema), by codes of the gateway. */
const codes = new Map<string | null, number>([
  ['invalid_json', -32_700],
  ['invalid_request', -32_600],
  ['invalid_params', -32_602],
  ['tool_not_allowed', -32_602],
  ['session_not_found', -32_001],
  ['header_mismatch', -32_020],
  ['unsupported_protocol_version', -32_022],
])

/** Codes for every other error: of the client, and of the gateway or the server. */
const [otherError, internalError] = [-32_000, -32_603]

/** The JSON-RPC code of an error. */
export function rpcCodeOf({ code, status }: Pick<Failure, 'code' | 'status'>): number {
  return codes.get(code) ?? (status < 500 ? otherError : internalError)
}

/** A JSON-RPC error (JSON-RPC 2.0, section 5.1). */
export function rpcError(id: Json, failure: Pick<Failure, 'code' | 'status' | 'message' | 'details'>): JsonObject {
  const { message, details } = failure
  const error = { code: rpcCodeOf(failure), message, ...(details ? { data: details } : {}) }
  return { jsonrpc: '2.0', id, error }
}

/** The Model Context Protocol over Streamable HTTP, on the side of clients. */
export default defineClientCodec({
  protocol: 'mcp',
  operation: 'mcp',
  summary: 'Model Context Protocol, over Streamable HTTP.',
  schema: {
    type: 'object',
    examples: [
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'my-client', version: '1.0.0' },
        },
      },
    ],
  },
  headers: ['last-event-id', 'mcp-method', 'mcp-name', 'mcp-param-*', 'mcp-protocol-version', 'mcp-session-id'],
  answerHeaders: ['mcp-session-id'],
  head: () => ({ model: '', stream: false, background: false }),
  error: {
    // A refused call is an answer like any other; clients take another status for a failure of the transport.
    status: ({ code }) => (code === 'tool_not_allowed' ? 200 : undefined),
    print(failure, _, asked) {
      const { id = null, method } = asked ?? {}
      return rpcError(method === undefined ? null : id, failure)
    },
  },
})
