import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  McpServer,
  WebStandardStreamableHTTPServerTransport,
  createMcpHandler,
  fromJsonSchema,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import type { Server, ServerEventBus } from '@modelcontextprotocol/server'

/** An MCP server made of the official package: `/mcp` with sessions, `/stateless` for revision 2026-07-28, too, `/strict` for it alone. */
export interface SdkServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Open sessions, by the server's own ids. */
  readonly sessions: ReadonlyMap<string, AnyServer>
  close(): Promise<void>
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
const words = (...names: string[]) =>
  fromJsonSchema<Record<string, string>>({
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    required: names,
  })

/** A server with a tool for each thing that servers do. */
function toolServer(): McpServer {
  const server = new McpServer({ name: 'sdk', version: '1.0.0' }, { capabilities: { logging: {} } })
  server.registerTool('echo', { description: 'Says it again.', inputSchema: words('text') }, ({ text: said = '' }) =>
    text(said),
  )
  server.registerTool('secret', { description: 'Not for everybody.', inputSchema: words() }, () => text('secret'))
  server.registerTool('ask-model', { inputSchema: words('question') }, async ({ question = '' }, { mcpReq }) => {
    const content = { type: 'text' as const, text: question }
    const asked = { messages: [{ role: 'user' as const, content }], maxTokens: 10 }
    const { model } = await mcpReq.requestSampling(asked, { relatedRequestId: mcpReq.id })
    return text(`asked ${model}`)
  })
  server.registerTool('ask-user', { inputSchema: words() }, async (_, { mcpReq }) => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } }
    const { action, content } = await mcpReq.elicitInput(
      { message: 'Who?', requestedSchema },
      { relatedRequestId: mcpReq.id },
    )
    return text(`${action} ${JSON.stringify(content)}`)
  })
  server.registerTool('count', { inputSchema: words() }, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [1, 2, 3])
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 3 } })
    await mcpReq.log('info', 'counted')
    return text('3')
  })
  server.registerResource('note', 'note://one', {}, ({ href }) => ({ contents: [{ uri: href, text: 'a note' }] }))
  return server
}

type AnyServer = Pick<McpServer, 'connect' | 'close'> & Partial<Pick<McpServer, 'sendToolListChanged'>>

/** How a server differs from the usual one. */
export interface SdkOptions {
  /** Makes the server of a session. */
  readonly make?: () => AnyServer
  /** Makes the server of a request without a session. */
  readonly makeStateless?: () => Server
  /** What tells those who listen at `/stateless` of changes. */
  readonly changes?: ServerEventBus
  readonly transport?: Pick<StreamOptions, 'eventStore' | 'retryInterval'>
  /** The revision that all requests within sessions are taken for. */
  readonly version?: string
  /** Refuses requests by other names, and from other pages, than those of this machine. */
  readonly isLocal?: boolean
}

type StreamOptions = NonNullable<ConstructorParameters<typeof WebStandardStreamableHTTPServerTransport>[0]>

const local = ['localhost', '127.0.0.1', '[::1]']

/** Starts it on a free port. */
export async function startSdkServer({
  make = toolServer,
  makeStateless,
  changes,
  transport: more,
  version,
  isLocal,
}: SdkOptions = {}): Promise<SdkServer> {
  const sessions = new Map<string, AnyServer>()
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const stateless = createMcpHandler(makeStateless ?? (() => toolServer()), { ...(changes && { bus: changes }) })
  const strict = createMcpHandler(() => toolServer(), { legacy: 'reject' })
  const withSessions = async (request: Request): Promise<Response> => {
    const known = transports.get(request.headers.get('mcp-session-id') ?? '')
    if (known) return known.handleRequest(request)
    if (request.headers.has('mcp-session-id')) return new Response('no such session', { status: 404 })
    const server = make()
    const transport = new WebStandardStreamableHTTPServerTransport({
      ...more,
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized(id) {
        sessions.set(id, server)
        transports.set(id, transport)
      },
      onsessionclosed(id) {
        sessions.delete(id)
        transports.delete(id)
      },
    })
    await server.connect(transport)
    return transport.handleRequest(request)
  }
  const named = (headers: IncomingHttpHeaders) =>
    version !== undefined && headers['mcp-session-id'] !== undefined ? { 'mcp-protocol-version': version } : undefined
  const http = createServer((incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming
    const body = method === 'POST' ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' as const } : {}
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const request = new Request(`http://localhost${url}`, {
      method,
      headers: { ...(headers as Record<string, string>), ...named(headers) },
      signal: gone.signal,
      ...body,
    })
    const isMeant = validateHostHeader(headers.host, local).ok && validateOriginHeader(headers.origin, local).ok
    if (isLocal && !isMeant) return void response.writeHead(403).end()
    const handler = new Map([
      ['/stateless', stateless],
      ['/strict', strict],
    ]).get(url)
    const answering = handler ? handler.fetch(request) : withSessions(request)
    void answering.then(async (answer) => {
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.flushHeaders()
      if (!answer.body) return response.end()
      // A client that leaves ends the pipeline; that is no failure of the server.
      await pipeline(Readable.fromWeb(answer.body), response).catch(() => undefined)
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    sessions,
    async close() {
      for (const server of sessions.values()) await server.close()
      await stateless.close()
      await strict.close()
      http.close()
      http.closeAllConnections()
    },
  }
}
