// The global `performance` is a getter, which is slower.
import { performance } from 'node:perf_hooks'
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../spec/error.ts'
import type { Flow, Sink, Source } from '../spec/source.ts'
import { unwatch, watch } from '../pipeline/deadline.ts'
import type { Waiting } from '../pipeline/deadline.ts'

/** Limits for a body while it arrives. */
export interface ArrivalLimits {
  /** Maximum size, in bytes. */
  readonly limit: number
  /** Milliseconds without any byte of the body before it is refused. */
  readonly silence: number
  /** Milliseconds for the whole body. */
  readonly arrival?: number
}

/**
 * The body of a request as a source. It fails with `request_too_large`, `request_timeout` or `client_closed`; the
 * unread rest then stays in the request. Throws `request_too_large` when the content length exceeds the limit, and
 * `unsupported_media_type` for a compressed body.
 */
export class ArrivingBody implements Source, Flow, Waiting {
  readonly #request: IncomingMessage
  readonly #limits: ArrivalLimits
  #sink: Sink | undefined
  #size = 0
  readonly #began = performance.now()
  #heard = this.#began
  #paused = false
  before?: Waiting | undefined
  after?: Waiting | undefined

  constructor(request: IncomingMessage, limits: ArrivalLimits) {
    const encoding = request.headers['content-encoding']?.toLowerCase()
    if (encoding !== undefined && encoding !== 'identity')
      throw new GatewayError('unsupported_media_type', { given: encoding, expected: 'an uncompressed body' })
    if (Number(request.headers['content-length'] ?? 0) > limits.limit) throw tooLarge(limits)
    this.#request = request
    this.#limits = limits
  }

  open(sink: Sink): Flow {
    this.#sink = sink
    const request = this.#request
    // A destroyed request emits no further event.
    if (request.destroyed) queueMicrotask(() => this.#fail(new GatewayError('client_closed')))
    else watch(this)
    request.on('data', (chunk: Buffer) => this.#take(chunk))
    request.on('end', () => {
      this.#leave()?.end()
    })
    request.on('error', (cause) => this.#fail(new GatewayError('client_closed', {}, { cause })))
    request.on('close', () => {
      if (this.#sink) this.#fail(new GatewayError('client_closed'))
    })
    return this
  }

  look(now: number): void {
    const { silence, arrival = Infinity } = this.#limits
    if (now - this.#began >= arrival) this.#fail(new GatewayError('request_timeout', { seconds: arrival / 1_000 }))
    else if (!this.#paused && now - this.#heard >= silence)
      this.#fail(new GatewayError('request_timeout', { seconds: silence / 1_000 }))
  }

  pause(): void {
    this.#paused = true
    this.#request.pause()
  }

  resume(): void {
    if (!this.#paused || !this.#sink) return
    this.#paused = false
    this.#heard = performance.now()
    this.#request.resume()
  }

  cancel(): void {
    this.#leave()
    this.#request.removeAllListeners('data')
    this.#request.pause()
  }

  #take(chunk: Buffer): void {
    this.#heard = performance.now()
    this.#size += chunk.length
    if (this.#size > this.#limits.limit) return this.#fail(tooLarge(this.#limits))
    this.#sink?.data(chunk)
  }

  #fail(error: GatewayError): void {
    const sink = this.#leave()
    this.cancel()
    sink?.fail(error)
  }

  /** Detaches the sink and returns it; it receives no further call. */
  #leave(): Sink | undefined {
    const sink = this.#sink
    this.#sink = undefined
    unwatch(this)
    return sink
  }
}

function tooLarge({ limit }: ArrivalLimits): GatewayError {
  return new GatewayError('request_too_large', { limit })
}
