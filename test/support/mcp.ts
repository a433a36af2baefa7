import { request as ask } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { expect } from 'chai'
import type { JsonObject } from '../../engine/index.ts'
import { scriptedUpstream } from './upstream.ts'
import type { RecordedRequest, Script, ScriptedUpstream } from './upstream.ts'
import { startGateway } from './gateway.ts'
import type { GatewaySettings, RunningGateway } from './gateway.ts'

/** A JSON-RPC message. */
export type Rpc = Record<string, unknown>

/** What a request to the endpoint says beside its message. */
export interface Calling {
  readonly server?: string
  readonly key?: string
  readonly session?: string | undefined
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

/** An MCP server behind a gateway, scripted to the byte. */
export interface McpRig {
  readonly gateway: RunningGateway
  readonly upstream: ScriptedUpstream
  /** POST of a message; a text goes as it is. */
  post(message: Rpc | string, calling?: Calling): Promise<Response>
  get(calling?: Calling): Promise<Response>
  delete(calling?: Calling): Promise<Response>
  /** Opens a session; its id as the client knows it. The server's own is `upstream-<n>`. */
  open(calling?: Calling): Promise<string>
  close(): Promise<void>
}

export const otherKey = 'sk-other-0123456789abcdef0123456789abcdef'
export const bothTypes = 'application/json, text/event-stream'

/** The answer to `initialize`, in a new session. */
export function initialized(id: unknown, session?: string, capabilities: JsonObject = { tools: {} }): Script {
  const result = { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 's', version: '1' } }
  return {
    headers: { 'content-type': 'application/json', ...(session === undefined ? {} : { 'mcp-session-id': session }) },
    body: { jsonrpc: '2.0', id: id as string, result },
  }
}

/** A JSON-RPC result as a whole answer. */
export function result(id: unknown, value: object = {}): Script {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id, result: value }),
  }
}

/** A scripted stream: texts are sent as they are. */
export function events(chunks: Script['chunks'], ending: NonNullable<Script['ending']> = 'end'): Script {
  return { headers: { 'content-type': 'text/event-stream' }, ...(chunks ? { chunks } : {}), ending }
}

export function bodyOf({ body }: RecordedRequest): Rpc {
  return JSON.parse(body.toString()) as Rpc
}

/** Answers `initialize` with a session, and everything else with `answer`. */
export function speaking(
  answer: (message: Rpc, request: RecordedRequest) => Script | Promise<Script>,
  capabilities?: JsonObject,
) {
  let sessions = 0
  return (request: RecordedRequest): Script | Promise<Script> => {
    if (request.method === 'DELETE') return { status: 200 }
    const message = request.body.length === 0 ? {} : bodyOf(request)
    if (message['method'] === 'initialize') return initialized(message['id'], `upstream-${++sessions}`, capabilities)
    if (request.method === 'POST' && message['id'] === undefined) return { status: 202 }
    return answer(message, request)
  }
}

/**
 * Starts a gateway with the servers `docs` and `notes`, which are the same scripted upstream, and two API keys that may
 * use every server of the file.
 * @param record fields of both servers
 */
export async function startMcp(
  record: object = {},
  { upstream: given, ...settings }: GatewaySettings & { readonly upstream?: ScriptedUpstream } = {},
): Promise<McpRig> {
  const upstream = given ?? (await scriptedUpstream())
  const at = (name: string) => ({ name, transport: 'http', url: `${upstream.url}/${name}`, ...record })
  const { records = { mcp_servers: [at('docs'), at('notes')] } } = settings
  const { mcp_servers: servers } = records as { readonly mcp_servers: readonly { readonly name: string }[] }
  const rights = { mcp_servers: servers.map(({ name }) => name) }
  const gateway = await startGateway({
    api_keys: [{ name: 'other', key: otherKey, ...rights }],
    key_fields: rights,
    ...settings,
    records,
  })
  const send = (
    method: string,
    { server = 'docs', key = gateway.key, session, headers, signal }: Calling,
    body?: string,
  ) =>
    fetch(`${gateway.url}/servers/${server}/mcp`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        accept: method === 'GET' ? 'text/event-stream' : bothTypes,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
    })
  const post: McpRig['post'] = (message, calling = {}) =>
    send('POST', calling, typeof message === 'string' ? message : JSON.stringify(message))
  return {
    gateway,
    upstream,
    post,
    get: (calling = {}) => send('GET', calling),
    delete: (calling = {}) => send('DELETE', calling),
    async open(calling) {
      const response = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {} }, calling)
      expect(response.status).to.equal(200)
      await response.text()
      return response.headers.get('mcp-session-id') ?? ''
    },
    async close() {
      await gateway.close()
      await upstream.close()
    },
  }
}

/** A request with headers that `fetch` does not let anybody set, such as `host`. */
export function rawRequest(url: string, method: string, headers: Record<string, string>, body?: string) {
  return new Promise<{ readonly status: number; readonly headers: IncomingMessage['headers']; readonly text: string }>(
    (resolve, reject) => {
      const request = ask(url, { method, headers }, (response) => {
        void response.toArray().then((chunks) =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks as Buffer[]).toString(),
          }),
        )
      })
      request.on('error', reject)
      request.end(body)
    },
  )
}
