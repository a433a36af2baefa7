import type { IncomingMessage } from 'node:http'
import type { Ingress } from '../spec/slots.ts'
import { Hold } from '../stream/byte-budget.ts'
import type { Body, BodyReader, ByteBudget, HeldBody } from '../spec/source.ts'
import { readAlong, readBody } from './body.ts'
import { clientAddress } from './edge.ts'
import type { Edge } from './edge.ts'
import type { HttpLimits } from './limits.ts'
import type { Endpoint } from './routes.ts'
import type { ExchangeScope } from './scope.ts'
import { SpoolFile } from './spool.ts'
import type { Spool } from './spool.ts'

interface Given {
  readonly limits: Pick<HttpLimits, 'silence'>
  readonly budget: ByteBudget
  readonly scope: ExchangeScope
  readonly spool: Spool
  readonly edge: Pick<Edge, 'proxies'>
}

/** A request over HTTP. */
export class HttpIngress implements Ingress {
  readonly path: string
  readonly params: Ingress['params']
  readonly headers: Ingress['headers']
  readonly transport = 'http'
  readonly remote: string
  /** The body's reservation in the byte budget. */
  readonly #hold: Hold
  readonly #request: IncomingMessage
  readonly #given: Given
  #query: URLSearchParams | undefined
  /** The file of a body that was spooled. */
  #file: SpoolFile | undefined
  #over = false

  constructor(request: IncomingMessage, { path, params }: Endpoint, given: Given) {
    this.path = path
    this.params = params
    this.headers = request.headers
    this.remote = clientAddress(request, given.edge)
    this.#request = request
    this.#given = given
    this.#hold = new Hold(given.budget)
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  get query(): URLSearchParams {
    const { url = '/' } = this.#request
    const mark = url.indexOf('?')
    return (this.#query ??= new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)))
  }

  body(limit: number): Promise<HeldBody>
  body(limit: number, reader: BodyReader): Promise<Body>
  body(limit: number, reader?: BodyReader): Promise<Body> {
    const { limits, scope, spool } = this.#given
    const reading = { limit, hold: this.#hold, silence: limits.silence }
    if (!reader) return scope.standStill(readBody(this.#request, reading))
    return scope.standStill(
      readAlong(this.#request, reading, reader, spool).then((body) => {
        if (!(body instanceof SpoolFile)) return body
        this.#file = body
        if (this.#over) body.close()
        return body
      }),
    )
  }

  /** The exchange is over: releases the body's reservation and closes its file. */
  release(): void {
    this.#over = true
    this.#hold.release()
    this.#file?.close()
  }
}
