// The barest useful proxy: body buffered, answer relayed by undici's dispatch. What everything else is measured against.
//   node bare.ts PORT UPSTREAM_PORT
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Pool } from 'undici'
import type { Dispatcher } from 'undici'

const [port, upstream] = process.argv.slice(2)
const pool = new Pool(`http://127.0.0.1:${upstream}`, {
  pipelining: 1,
  keepAliveTimeout: 60_000,
  headersTimeout: 0,
  bodyTimeout: 0,
})

function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    request.on('data', (chunk: Buffer) => parts.push(chunk))
    request.on('end', () => resolve(parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts)))
    request.on('error', reject)
  })
}

class Relay {
  readonly #response: ServerResponse
  readonly #parts: Buffer[] = []
  #streams = false
  #type = ''

  constructor(response: ServerResponse) {
    this.#response = response
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#response.on('close', () => {
      if (!this.#response.writableFinished) controller.abort(new Error('client gone'))
    })
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ) {
    this.#type = String(headers['content-type'])
    this.#streams = this.#type.startsWith('text/event-stream')
    if (this.#streams) this.#response.writeHead(status, { 'content-type': this.#type })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    if (!this.#streams) {
      this.#parts.push(chunk)
      return
    }
    if (this.#response.write(chunk)) return
    controller.pause()
    this.#response.once('drain', () => controller.resume())
  }

  onResponseEnd() {
    if (this.#streams) {
      this.#response.end()
      return
    }
    const body = this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts)
    this.#response.writeHead(200, { 'content-type': this.#type, 'content-length': body.length })
    this.#response.end(body)
  }

  onResponseError() {
    this.#response.destroy()
  }
}

createServer({ keepAliveTimeout: 65_000, requestTimeout: 0, noDelay: true }, (request, response) => {
  void bodyOf(request).then((body) =>
    pool.dispatch(
      { path: request.url ?? '/', method: 'POST', body, headers: ['content-type', 'application/json'] },
      new Relay(response),
    ),
  )
}).listen({ port: Number(port), host: '127.0.0.1', backlog: 4096 })
