import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'

/** What the tool of the server answers. */
export const found = 'sluice-mcp-1729'

/** An MCP server with one tool, `lookup`, over streamable HTTP. */
export async function lookupServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const told = { url: '', close }
  const opened = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    const server = new McpServer({ name: 'lookup', version: '1.0.0' })
    server.registerTool('lookup', { description: 'Looks the number of today up.' }, () => ({
      content: [{ type: 'text', text: found }],
    }))
    await server.connect(transport)
    return transport
  }
  const listener = createServer((request, response) => {
    const answer = async () => {
      const transport = sessions.get(String(request.headers['mcp-session-id'])) ?? (await opened())
      const hasBody = request.method === 'POST'
      const { status, headers, body } = await transport.handleRequest(
        new Request(new URL(request.url ?? '/', told.url), {
          method: request.method ?? 'GET',
          headers: request.headers as Record<string, string>,
          ...(hasBody ? { body: Readable.toWeb(request) as never, duplex: 'half' as const } : {}),
        }),
      )
      response.writeHead(status, Object.fromEntries(headers)).flushHeaders()
      if (body) Readable.fromWeb(body).pipe(response)
      else response.end()
    }
    answer().catch((error: unknown) => response.destroy(error as Error))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  told.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`
  return told

  async function close(): Promise<void> {
    await Promise.all([...sessions.values()].map((transport) => transport.close()))
    listener.closeAllConnections()
    await new Promise((resolve) => listener.close(resolve))
  }
}
