import type { IncomingMessage } from 'node:http'
import type { Ingress } from '../spec/slots.ts'
import { Hold } from '../stream/byte-budget.ts'
import type { Body, BodyReader, HeldBody } from '../spec/source.ts'
import type { Bag } from '../pipeline/bag.ts'
import { readAlong, readBody } from './body.ts'
import { clientAddress } from './edge.ts'
import type { Edge } from './edge.ts'
import type { HttpLimits } from '../config/limits.ts'
import type { Endpoint } from './routes.ts'
import type { ExchangeScope } from './scope.ts'
import type { Shares } from './shares.ts'
import { SpoolFile } from './spool.ts'
import type { Spool } from './spool.ts'

interface Serving {
  readonly limits: Pick<HttpLimits, 'silence' | 'unauthenticated'>
  /** How clients share the memory and the disk. */
  readonly memory: Shares
  readonly disk: Shares
  readonly spool: Spool
  readonly edge: Pick<Edge, 'proxies' | 'untrusted'>
}

/** A request over HTTP. */
export class HttpIngress implements Ingress {
  readonly path: string
  readonly params: Ingress['params']
  readonly headers: Ingress['headers']
  readonly transport = 'http'
  readonly remote: string
  readonly httpVersion: string
  /** The body's reservation in the byte budget. */
  #hold: Hold | undefined
  readonly #request: IncomingMessage
  readonly #serving: Serving
  readonly #scope: ExchangeScope
  readonly #slots: Pick<Bag, 'principal'>
  #query: URLSearchParams | undefined
  /** The file of a body that was spooled. */
  #file: SpoolFile | undefined
  #over = false

  /** @param slots of the exchange, in which the client is known once it is authenticated */
  constructor(
    request: IncomingMessage,
    { path, params }: Endpoint,
    serving: Serving,
    scope: ExchangeScope,
    slots: Pick<Bag, 'principal'>,
  ) {
    this.path = path
    this.params = params
    this.headers = request.headers
    this.remote = clientAddress(request, serving.edge)
    this.httpVersion = request.httpVersion
    this.#request = request
    this.#serving = serving
    this.#scope = scope
    this.#slots = slots
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
    const { limits, memory, disk, spool } = this.#serving
    const { principal } = this.#slots
    const known = principal !== undefined
    const { arrival, uncounted } = limits.unauthenticated
    const hold = (this.#hold ??= new Hold(memory.of(principal, this.remote), known ? 0 : uncounted))
    const scope = this.#scope
    const reading = { limit, hold, silence: limits.silence, arrival: known ? Infinity : arrival, clock: scope }
    if (!reader) return readBody(this.#request, reading)
    return scope.standStill(
      readAlong(this.#request, reading, reader, () => spool.open(disk.of(principal, this.remote))).then((body) => {
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
    this.#hold?.release()
    this.#file?.close()
  }
}
