import { createServer } from 'node:http'
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json, JsonObject } from '../../engine/index.ts'

/** A question to a service. */
export interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: JsonObject
}

/** A service that answers what a test wants. */
export class Service {
  readonly asked: Asked[] = []
  act: (asked: Asked, response: ServerResponse) => void = () => undefined
  #server!: Server
  url = ''

  async open(): Promise<void> {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const asked = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) as JsonObject }
        this.asked.push(asked)
        this.act(asked, response)
      })
    })
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  answers(make: (asked: Asked) => Json): void {
    this.act = (asked, response) => response.end(JSON.stringify(make(asked)))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
