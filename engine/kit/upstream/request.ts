import type { Dispatcher } from 'undici'
import { GatewayError, asGatewayError } from '../../spec/error.ts'
import type { Answer } from '../../spec/open-provider.ts'
import type { Flow, Sink, Source } from '../../spec/source.ts'
import type { Scope } from '../../spec/scope.ts'
import { joinedBytes } from '../../stream/buffer-of.ts'
import { tookTooLong, transportFailure, unreadable } from './failures.ts'
import { Limits } from './limits.ts'
import type { Timeouts } from './limits.ts'
import { isStale } from './stale.ts'

/** Bytes buffered for a reader that has not opened the body yet; beyond that the socket is paused. */
const heldLimit = 64 * 1024
/** Maximum number of response header lines. The pool limits their size. */
const headerLimit = 256

/** Never written to. */
const none: Uint8Array[] = []

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
  /** The last byte of the response has arrived. */
  ended?(): void
  /** The server had closed the connection before. Returns whether the request is sent again, on another one. */
  repeat?(request: UpstreamRequest): boolean
}

/**
 * One request and its response. A single object implements the callbacks of the HTTP client, the response body and
 * the reader's flow, because one is created per request. The socket is closed as soon as the exchange fails, is
 * aborted or cancelled; later bytes are dropped.
 */
export class UpstreamRequest implements Dispatcher.DispatchHandler, Source, Flow {
  readonly #model: string
  readonly #waiting: Waiting
  readonly #limits: Limits
  readonly #forget: (() => void) | undefined
  #controller: Dispatcher.DispatchController | undefined
  #sink: Sink | undefined
  #held: Uint8Array[] = none
  #heldSize = 0
  #paused = false
  /** One function for all chunks. */
  readonly #flowNow = () => this.#flow()
  /** Whether the buffered chunks are about to be handed on. */
  #flowing = false
  /** How the response ended; undefined until then. */
  #last: { readonly error?: Error } | undefined
  /** Whether the sink was called with the end. */
  #told = false

  constructor(model: string, timeouts: Timeouts, scope: Pick<Scope, 'onAbort'>, waiting: Waiting) {
    this.#model = model
    this.#waiting = waiting
    this.#limits = new Limits(timeouts, (limit) => this.#break(tookTooLong(limit, model)))
    this.#forget = scope.onAbort((reason) => this.#break(reason))
  }

  /** Whether it ended before it was sent, because the scope was already aborted. */
  get over(): boolean {
    return this.#last !== undefined
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Throws instead of aborting: the connection has carried nothing of this request and stays usable for others.
    if (this.#last) throw this.#last.error ?? new Error('The request ended before it was sent.')
    this.#controller = controller
    this.#limits.enter('firstByte')
  }

  /** It is sent from its beginning once more, and waits for a connection again. */
  restart(): void {
    this.#controller = undefined
    this.#limits.enter('connect')
  }

  /** A chunk of a large body was sent. The first-byte timeout counts from the last chunk. */
  sent(): void {
    this.#limits.heard()
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHeaders): void {
    if (status < 200 || this.#last) return
    this.#limits.enter('idle')
    const refused = refusal(status, headers, controller.rawHeaders)
    if (refused !== undefined) return this.#break(unreadable(refused, this.#model))
    this.#waiting.resolve({ status, headers: joined(headers), body: this })
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#last) return
    if (this.#held.length > 0) this.#held.push(chunk)
    else this.#held = [chunk]
    this.#heldSize += chunk.length
    if (this.#heldSize >= heldLimit) controller.pause()
    // Of chunks that arrive together, the first is enough to restart the timeout.
    if (this.#held.length === 1) this.#limits.heard()
    if (this.#sink && !this.#paused) this.#soon()
  }

  onResponseEnd(): void {
    this.#waiting.ended?.()
    if (this.#last) return
    this.#finish({})
    this.#tell()
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#last) return
    if (isStale(error) && this.#limits.phase === 'firstByte' && this.#waiting.repeat?.(this) === true) return
    // The request body could not be read.
    const ours = error instanceof GatewayError
    this.#break(ours ? error : transportFailure(error, this.#limits.phase, this.#model))
  }

  open(sink: Sink): Flow {
    if (this.#sink) throw new Error('A body has exactly one reader.')
    this.#sink = sink
    this.#soon()
    return this
  }

  pause(): void {
    if (this.#last) return
    this.#paused = true
    this.#limits.paused = true
    this.#controller?.pause()
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#limits.paused = false
    this.#limits.heard()
    this.#soon()
  }

  cancel(reason: Error): void {
    this.#told = true
    this.#break(reason)
  }

  /**
   * Hands on the buffered chunks after the HTTP parser has returned. The parser must not be re-entered from its
   * callbacks. All chunks of one read are passed on together, which is much cheaper all the way to the client.
   */
  #soon(): void {
    if (this.#flowing) return
    this.#flowing = true
    queueMicrotask(this.#flowNow)
  }

  /** Hands on the buffered chunks, then resumes the socket. */
  #flow(): void {
    this.#flowing = false
    try {
      if (this.#held.length > 0 && !this.#paused && !this.#told) this.#sink?.data(this.#release())
      if (this.#last) this.#tell()
      else if (!this.#paused) this.#controller?.resume()
    } catch (error) {
      this.#break(asGatewayError(error))
    }
  }

  #release(): Uint8Array {
    const held = this.#held
    this.#held = none
    this.#heldSize = 0
    return joinedBytes(held)
  }

  #break(error: Error): void {
    if (this.#last) return
    this.#finish({ error })
    this.#controller?.abort(error)
    this.#waiting.reject(error)
    // A paused reader may never resume, but must learn that the response has ended.
    if (this.#paused) this.#held = none
    this.#tell()
  }

  #finish(last: { readonly error?: Error }): void {
    this.#last = last
    this.#limits.stop()
    this.#forget?.()
  }

  /** Calls the sink's `end` or `fail` once, after all buffered chunks. */
  #tell(): void {
    if (this.#told || !this.#sink || this.#held.length > 0) return
    this.#told = true
    if (this.#last?.error) this.#sink.fail(this.#last.error)
    else this.#sink.end()
  }
}

/** Why a response with these headers is not relayed. */
function refusal(status: number, headers: IncomingHeaders, raw: unknown): string | undefined {
  if (status >= 300 && status < 400) return 'it answered with a redirect'
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return 'its body is encoded, which was not requested'
  if (Array.isArray(raw) && raw.length > 2 * headerLimit) return 'it has too many headers'
  return undefined
}

function joined(headers: IncomingHeaders): Readonly<Record<string, string>> {
  if (single(headers)) return headers
  const lines: Record<string, string> = {}
  for (const [name, value = ''] of Object.entries(headers)) {
    lines[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return lines
}

/** Whether no header is repeated, which is nearly always the case. */
function single(headers: IncomingHeaders): headers is Readonly<Record<string, string>> {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}
