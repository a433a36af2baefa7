import { once } from 'node:events'
import { createServer, request as ask } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LLMock } from '@copilotkit/aimock'

/** A request as the mock got it, byte for byte. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A third party's idea of the vendors: answers by what it was told, and remembers what it was asked. */
export interface Mock {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  /** Tell it here what to answer. */
  readonly mock: LLMock
  readonly asked: Asked[]
  /** The last request's body, read as JSON. */
  lastBody(): Record<string, unknown>
  close(): Promise<void>
}

/** Starts the mock behind a relay that keeps each request; the mock's own journal holds them translated. */
export async function startMock(): Promise<Mock> {
  const mock = new LLMock({ port: 0, logLevel: 'silent', strict: true })
  await mock.start()
  const asked: Asked[] = []
  const server = createServer((incoming, response) => {
    void incoming.toArray().then((chunks) => {
      const { method = '', url: path = '', headers } = incoming
      const body = Buffer.concat(chunks as Buffer[])
      asked.push({ method, path, headers, body })
      const outgoing = ask(
        mock.url + path,
        { method, headers: { ...headers, host: new URL(mock.url).host } },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        },
      )
      outgoing.on('error', () => response.destroy())
      outgoing.end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mock,
    asked,
    lastBody: () => JSON.parse(String(asked.at(-1)?.body)) as Record<string, unknown>,
    async close() {
      server.close()
      server.closeAllConnections()
      await mock.stop()
    },
  }
}
