import type { Dispatcher } from 'undici'
import { GatewayError, asGatewayError } from '../spec/error.ts'
import type { Answer } from '../spec/open-provider.ts'
import type { Flow, Sink, Source } from '../spec/source.ts'
import type { Scope } from '../spec/scope.ts'
import { joinedBytes } from '../stream/buffer-of.ts'
import { tookTooLong, transportFailure, unreadable } from './failures.ts'
import { Limits } from './limits.ts'
import type { Timeouts } from './limits.ts'

/** Bytes held for a reader that has not opened the body yet; beyond that the socket is not read. */
const heldLimit = 64 * 1024
/** Header lines of an answer. Their size is limited by the pool. */
const headerLimit = 256

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/**
 * One request and its answer: what the HTTP client calls back, the answer's body, and the reader's hand on it in one
 * object, because there is one for every request. The socket is closed as soon as the exchange fails, is aborted or
 * cancelled; what arrives after that is dropped.
 */
export class UpstreamRequest implements Dispatcher.DispatchHandler, Source, Flow {
  readonly #model: string
  readonly #waiting: Waiting
  readonly #limits: Limits
  readonly #forget: (() => void) | undefined
  #controller: Dispatcher.DispatchController | undefined
  #sink: Sink | undefined
  #held: Uint8Array[] = []
  #heldSize = 0
  #paused = false
  /** What is held is about to be handed on. */
  #flowing = false
  /** How it ended, once it has. */
  #last: { readonly error?: Error } | undefined
  /** The sink knows how it ended. */
  #told = false

  constructor(model: string, timeouts: Timeouts, scope: Pick<Scope, 'onAbort'>, waiting: Waiting) {
    this.#model = model
    this.#waiting = waiting
    this.#limits = new Limits(timeouts, (limit) => this.#break(tookTooLong(limit, model)))
    this.#forget = scope.onAbort((reason) => this.#break(reason))
  }

  /** It ended before it was sent: the scope was aborted already. */
  get over(): boolean {
    return this.#last !== undefined
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Thrown rather than aborted: the connection has carried nothing of this request and stays good for others.
    if (this.#last) throw this.#last.error ?? new Error('The request ended before it was sent.')
    this.#controller = controller
    this.#limits.enter('firstByte')
  }

  /** More of a large body has left: how long the answer may take to begin counts from its end. */
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
    this.#held.push(chunk)
    this.#heldSize += chunk.length
    if (this.#heldSize >= heldLimit) controller.pause()
    // Of what arrives together the first chunk is enough to know that the upstream is there.
    if (this.#held.length === 1) this.#limits.heard()
    if (this.#sink && !this.#paused) this.#soon()
  }

  onResponseEnd(): void {
    if (this.#last) return
    this.#finish({})
    this.#tell()
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    if (this.#last) return
    // What is sent could not be read.
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
   * Hands on what is held when the HTTP parser has returned: it must not be entered while it calls back, and all chunks
   * of one read travel as one, which costs the whole way to the client a fraction of what each by itself would.
   */
  #soon(): void {
    if (this.#flowing) return
    this.#flowing = true
    queueMicrotask(() => this.#flow())
  }

  /** Hands on what was held, then lets the socket flow. */
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
    this.#held = []
    this.#heldSize = 0
    return joinedBytes(held)
  }

  #break(error: Error): void {
    if (this.#last) return
    this.#finish({ error })
    this.#controller?.abort(error)
    this.#waiting.reject(error)
    // A reader that has paused may never come back for what is held, but must learn that nothing more comes.
    if (this.#paused) this.#held = []
    this.#tell()
  }

  #finish(last: { readonly error?: Error }): void {
    this.#last = last
    this.#limits.stop()
    this.#forget?.()
  }

  /** Tells the sink how it ended, once, after all that was held. */
  #tell(): void {
    if (this.#told || !this.#sink || this.#held.length > 0) return
    this.#told = true
    if (this.#last?.error) this.#sink.fail(this.#last.error)
    else this.#sink.end()
  }
}

/** Why an answer with these headers is not passed on. */
function refusal(status: number, headers: IncomingHeaders, raw: unknown): string | undefined {
  if (status >= 300 && status < 400) return 'it answered with a redirect'
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding !== 'identity') return 'its body is encoded though that was not asked for'
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

/** Whether every header came once, as it nearly always is. */
function single(headers: IncomingHeaders): headers is Readonly<Record<string, string>> {
  for (const name in headers) if (typeof headers[name] !== 'string') return false
  return true
}
