import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BytesBody, asGatewayError } from '../../engine/kit.ts'
import type { Answer, Scope, ServiceHost } from '../../engine/index.ts'
import { rpcError } from './codec.ts'
import { readMessage } from './message.ts'
import type { Upstream } from './upstream.ts'

/** What a process serves to the others. */
export interface Served {
  readonly upstream: Upstream
  /** Longest silence of a call in milliseconds. */
  readonly silence: number
}

/** The header that names a server and its identity. */
export const serverHeader = 'x-sluice-mcp-server'
/** The header of a request that is not passed on: it is answered when one with its id is worked on no more (`worked`). */
export const questionHeader = 'x-sluice-mcp-question'

/**
 * Serves the sessions of this process to the other processes of the gateway, over HTTP on a loopback port. They know
 * each other by a key that is derived from the master secret.
 */
export class Peers {
  readonly #host: Pick<ServiceHost, 'deriveKey'>
  readonly #served = new Map<string, Served>()
  #server: Server | undefined
  #opening: Promise<string> | undefined
  #address: string | undefined

  constructor(host: Pick<ServiceHost, 'deriveKey'>) {
    this.#host = host
  }

  /** What the processes show each other. It follows the master secret. */
  get authorization(): string {
    return `Bearer ${this.#host.deriveKey('sluice mcp peers 1').toString('hex')}`
  }

  /** The address of this process, if it serves; others never have it. */
  get address(): string | undefined {
    return this.#address
  }

  /** Opens the port with the first session. Resolves with the address. */
  open(): Promise<string> {
    return (this.#opening ??= this.#listen())
  }

  /** @param name of a server, with its identity */
  serve(name: string, served: Served): void {
    this.#served.set(name, served)
  }

  async close(): Promise<void> {
    await this.#opening
    this.#server?.close()
    this.#server?.closeAllConnections()
  }

  async #listen(): Promise<string> {
    // Importing this module would evaluate all its exports, among them `fetch` with its dependencies.
    const { createServer } = process.getBuiltinModule('node:http')
    const server = createServer({ requestTimeout: 0 }, (request, response) => void this.#respond(request, response))
    this.#server = server
    server.listen({ host: '127.0.0.1', port: 0, exclusive: true })
    await once(server, 'listening')
    return (this.#address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers } = request
    if (!this.#isPeer(headers.authorization)) return void response.writeHead(401).end()
    const served = this.#served.get(String(headers[serverHeader]))
    const session = headers['mcp-session-id']
    if (!served || typeof session !== 'string') return void response.writeHead(404).end()
    try {
      pass(await ask(request, scopeOf(response), { ...served, session }), response)
    } catch (thrown) {
      const { failure } = asGatewayError(thrown)
      response.writeHead(failure.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(rpcError(null, failure)))
    }
  }

  #isPeer(shown = ''): boolean {
    const [own, given] = [Buffer.from(this.authorization), Buffer.from(shown)]
    return own.length === given.length && timingSafeEqual(own, given)
  }
}

type Aborting = Pick<Scope, 'onAbort'>

async function ask(
  request: IncomingMessage,
  scope: Aborting,
  { upstream, silence, session }: Served & { readonly session: string },
): Promise<Answer> {
  const { method, headers } = request
  if (method === 'GET') return upstream.listen({ scope, headers, silence: 0 }, session)
  if (method === 'DELETE') return upstream.end(session, { scope, headers, silence })
  const message = readMessage(new BytesBody(Buffer.concat((await request.toArray()) as Buffer[])))
  if (headers[questionHeader] === undefined) return upstream.post(message, { scope, headers, silence }, session)
  if (message.kind === 'request') await upstream.worked?.(message.id, session)
  return { status: 202, headers: {}, body: new BytesBody(Buffer.alloc(0)).open() }
}

/** Aborted when the other process has left. */
function scopeOf(response: ServerResponse): Aborting {
  return {
    onAbort(listener) {
      const left = () => {
        if (!response.writableFinished) listener(new Error('the other process has left'))
      }
      response.once('close', left)
      return () => response.off('close', left)
    },
  }
}

function pass({ status, headers, body }: Answer, response: ServerResponse): void {
  const names = ['content-type', 'allow'].filter((name) => headers[name] !== undefined)
  response.writeHead(status, Object.fromEntries(names.map((name) => [name, headers[name]])))
  response.flushHeaders()
  let isOver = false
  const flow = body.open({
    data(chunk) {
      if (!response.write(chunk)) flow.pause()
    },
    end() {
      isOver = true
      response.end()
    },
    fail() {
      isOver = true
      response.destroy()
    },
  })
  response.on('drain', () => flow.resume())
  response.on('close', () => isOver || flow.cancel(new Error('the other process has left')))
}
