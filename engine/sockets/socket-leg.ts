// The global `performance` is a getter, which is slower.
import { performance } from 'node:perf_hooks'
import type { WebSocket } from 'ws'
import type { Leg, LegLimits, LegSink } from '../spec/leg.ts'
import type { ByteBudget } from '../spec/source.ts'
import { asGatewayError } from '../spec/error.ts'
import { byteBudgetSpent } from '../stream/byte-budget.ts'
import { failed, part, tooMuch, tooSlow } from '../http/close-reason.ts'
import type { CloseReason } from '../http/close-reason.ts'

/** The events of a leg itself; its socket reports the close. */
type Heard = Pick<LegSink, 'message' | 'drained'>

/** An open WebSocket as one side of a relay: the client's, or an upstream's. */
export class SocketLeg implements Leg {
  readonly #socket: WebSocket
  readonly #limits: Omit<LegLimits, 'message' | 'beat'>
  readonly #budget: ByteBudget
  #sink: Heard | undefined
  #full = false
  #stalled: NodeJS.Timeout | undefined
  /** Bytes sent, and when the first was sent. */
  bytes = 0
  firstByte: number | undefined
  /** The failure for which it was closed, if any. */
  error: Error | undefined
  /** The code with which it was closed for a reason of the gateway's own. */
  own: number | undefined

  /** Emits no event before a sink is attached. */
  constructor(socket: WebSocket, limits: Omit<LegLimits, 'message' | 'beat'>, budget: ByteBudget) {
    this.#socket = socket
    this.#limits = limits
    this.#budget = budget
    socket.pause()
    // `ws` itself closes a socket that violates the protocol; a peer that does not answer the close frame is
    // disconnected.
    socket.on('error', (error) => {
      if ('code' in error && error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.own ??= 1009
      setTimeout(() => socket.terminate(), limits.closeTimeout).unref()
    })
    socket.on('close', () => clearTimeout(this.#stalled))
  }

  attach(sink: Heard): this {
    this.#sink = sink
    const hear = (data: unknown, binary: boolean) => {
      try {
        sink.message(data as Buffer, binary)
      } catch (thrown) {
        this.#socket.off('message', hear)
        this.#failed(thrown)
      }
    }
    this.#socket.on('message', hear)
    this.#socket.resume()
    return this
  }

  get unsent(): number {
    return this.#socket.bufferedAmount
  }

  send(message: Uint8Array, binary: boolean): boolean {
    const { length } = message
    if (this.#socket.readyState !== this.#socket.OPEN) return true
    if (!this.#budget.take(length)) {
      this.part(tooMuch, byteBudgetSpent())
      return true
    }
    this.firstByte ??= performance.now()
    this.bytes += length
    this.#socket.send(message, { binary }, () => {
      this.#budget.give(length)
      this.#left()
    })
    if (this.unsent <= this.#limits.unsent) return !this.#full
    this.#full = true
    this.#stalled ??= setTimeout(() => this.part(tooSlow), this.#limits.stalled).unref()
    return false
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(code?: number, reason = '', error?: Error): void {
    this.error ??= error
    // A paused socket reads no close frame.
    this.#socket.resume()
    part(this.#socket, { ...closing(code), reason }, this.#limits.closeTimeout)
  }

  /** Closes the socket with a reason of the gateway's own. */
  part(closeReason: CloseReason, error?: Error): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.own ??= closeReason.code
    this.close(closeReason.code, closeReason.reason, error)
  }

  #left(): void {
    if (!this.#full || this.unsent > this.#limits.unsent / 2) return
    this.#full = false
    clearTimeout(this.#stalled)
    this.#stalled = undefined
    try {
      this.#sink?.drained()
    } catch (thrown) {
      this.#failed(thrown)
    }
  }

  /** The sink has thrown; inside a socket's callback no caller would catch the error. */
  #failed(thrown: unknown): void {
    this.part(failed, asGatewayError(thrown))
  }
}

/**
 * The arguments of a close frame for a code. 1004 to 1006 and 1015 must not be sent: they describe closes without a
 * code.
 */
function closing(code = 1005): { readonly code?: number } {
  if (code === 1005) return {}
  const sendable = (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) || (code >= 3000 && code <= 4999)
  return { code: sendable ? code : 1011 }
}
