import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { GatewayError } from '../spec/error.ts'
import type { Dialed, LegSink } from '../spec/leg.ts'
import type { Host } from '../spec/host.ts'
import type { Scope } from '../spec/scope.ts'
import { httpLimits } from './limits.ts'
import { Pulse } from './pulse.ts'
import { SocketLeg } from './socket-leg.ts'

/** A WebSocket to be opened. */
export interface Dialing {
  /** `ws:` or `wss:`. */
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: readonly string[]
  /** The model named in errors. */
  readonly model: string
  /** Connect timeout in milliseconds. */
  readonly timeout: number
  readonly scope: Pick<Scope, 'onAbort' | 'onEnd'>
}

/**
 * Opens a WebSocket to an upstream. Redirects are never followed. The socket closes at the end of the exchange. Until
 * a sink is attached, it also closes when `scope` is aborted, and when a sink is attached to another socket of the
 * same `scope`, as after a failed attempt. A caller that needs several sockets attaches to all of them in the same
 * tick. Rejects with `upstream_unreachable`, `upstream_timeout`, `upstream_refused_key` (401, 403), or
 * `upstream_error` with the status of the refusal as a tag.
 */
export async function dial(dialing: Dialing, { byteBudget, log }: Pick<Host, 'byteBudget' | 'log'>): Promise<Dialed> {
  const { url, headers = {}, protocols = [], timeout, scope, model } = dialing
  // Loaded on first use: few pipelines open sockets.
  const { WebSocket } = await import('ws')
  const { sockets: limits } = httpLimits
  const options = { headers, followRedirects: false, perMessageDeflate: false, maxPayload: limits.message }
  const socket = new WebSocket(url, [...protocols], { ...options, handshakeTimeout: timeout })
  const leg = await opened(socket, () => new SocketLeg(socket, limits, byteBudget), dialing)
  const leave = () => leg.close(1001)
  const forget = scope.onAbort(leave)
  const others = waiting.get(scope) ?? new Set()
  waiting.set(scope, others.add(leave))
  scope.onEnd?.(() => socket.terminate())
  const pulse = new Pulse(socket)
  const beating = setInterval(() => pulse.beat(), limits.beat).unref()
  socket.on('pong', () => pulse.heard())
  socket.once('close', () => clearInterval(beating))
  return {
    protocol: socket.protocol,
    attach(sink: LegSink) {
      forget()
      others.delete(leave)
      queueMicrotask(() => {
        for (const other of others) other()
        others.clear()
      })
      const closed = async (code: number, reason: Buffer) => sink.closed(code, reason.toString(), leg.error)
      socket.once('close', (code: number, reason: Buffer) => {
        closed(code, reason).catch((error: unknown) =>
          log.error({ err: error }, 'the end of a socket could not be handled'),
        )
      })
      if (socket.readyState === WebSocket.CLOSED)
        throw new GatewayError('upstream_error', { model, reason: 'it closed its socket.' }, { tags: ['connect'] })
      return leg.attach({
        message(bytes, binary) {
          pulse.heard()
          sink.message(bytes, binary)
        },
        drained: () => sink.drained(),
      })
    },
  }
}

/** How to close the sockets of an exchange that have no sink yet. */
const waiting = new WeakMap<Dialing['scope'], Set<() => void>>()

/** Resolves once a socket is open, with the result of `made`, which runs before the socket can emit a message. */
function opened<T>(socket: WebSocket, made: () => T, { model, scope }: Dialing): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      forget()
      reject(error)
      socket.terminate()
    }
    const forget = scope.onAbort(fail)
    socket.once('open', () => {
      forget()
      resolve(made())
    })
    socket.once('unexpected-response', (request, response: IncomingMessage) => {
      fail(refused(response.statusCode ?? 0, model))
      request.destroy()
    })
    // Stays attached: terminating a socket that is still connecting emits an error.
    socket.on('error', (cause) => fail(unreachable(cause, model)))
  })
}

function refused(status: number, model: string): GatewayError {
  if (status === 401 || status === 403) return new GatewayError('upstream_refused_key', { model })
  const reason = `it refused a socket with status ${status}.`
  return new GatewayError('upstream_error', { model, reason }, { tags: status > 0 ? [String(status)] : ['invalid'] })
}

function unreachable(cause: Error, model: string): GatewayError {
  if (cause.message.includes('handshake has timed out'))
    return new GatewayError('upstream_timeout', { model, limit: 'connect' }, { tags: ['connect', 'timeout'] })
  return new GatewayError('upstream_unreachable', { model }, { cause, tags: ['connect'] })
}
