import { lookup } from 'node:dns'
import type { IncomingMessage } from 'node:http'
import type { WebSocket } from 'ws'
import { parsedJson } from '../json/parse.ts'
import { GatewayError } from '../spec/error.ts'
import type { ErrorParser } from '../spec/error.ts'
import type { Dialed, LegSink } from '../spec/leg.ts'
import type { Host } from '../spec/host.ts'
import type { Scope } from '../spec/scope.ts'
import { guardedLookup, isWithin, literalAddress, notAllowed } from '../config/reach.ts'
import type { Reach } from '../config/reach.ts'
import { refusedAccess } from './upstream/refused-access.ts'
import { retryAfterOf } from './upstream/retry-after.ts'
import { Pulse } from '../sockets/pulse.ts'
import { SocketLeg } from '../sockets/socket-leg.ts'

/** A WebSocket to be opened. */
export interface Dialing {
  /** `ws:` or `wss:`. */
  readonly url: URL
  readonly headers?: Readonly<Record<string, string>>
  readonly protocols?: readonly string[]
  /** The model named in errors. */
  readonly model: string
  /** Milliseconds until the socket must be open. */
  readonly timeout: number
  /** Default: `private`. */
  readonly reach?: Reach
  /** Finds the upstream's message in the body of a refusal. Absent: the error has the status alone. */
  readonly error?: ErrorParser | undefined
  readonly scope: Pick<Scope, 'onAbort' | 'onEnd'>
}

/**
 * Opens a WebSocket to an upstream. Redirects are never followed. The socket closes at the end of the exchange. Until
 * a sink is attached, it also closes when `scope` is aborted, and when a sink is attached to another socket of the
 * same `scope`, as after a failed attempt. A caller that needs several sockets attaches to all of them in the same
 * tick. Rejects with `upstream_unreachable`, `upstream_timeout`, `upstream_refused_key` (401, 403), or
 * `upstream_error`; the status of a refusal is a tag of the error.
 */
export async function dial(
  dialing: Dialing,
  { byteBudget, log, sockets: limits }: Pick<Host, 'byteBudget' | 'log' | 'sockets'>,
): Promise<Dialed> {
  const { url, headers = {}, protocols = [], reach = 'private', scope, model } = dialing
  const literal = literalAddress(url)
  // Sockets resolve no IP address, so a literal one is checked here.
  if (literal !== undefined && !isWithin(reach, literal)) throw unreachable(notAllowed(), model)
  // Loaded on first use: few pipelines open sockets.
  const { WebSocket } = await import('ws')
  const socket = new WebSocket(url, [...protocols], {
    headers,
    followRedirects: false,
    perMessageDeflate: false,
    maxPayload: limits.message,
    ...(reach === 'any' ? {} : { lookup: guardedLookup(lookup, reach) }),
  })
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
      const closed = async (code: number, reason: Buffer) =>
        sink.closed(leg.own ?? code, reason.toString(), leg.error, leg.own)
      socket.once('close', (code: number, reason: Buffer) => {
        closed(code, reason).catch((error: unknown) =>
          log.error({ err: error }, 'the end of a socket could not be handled'),
        )
      })
      if (socket.readyState === WebSocket.CLOSED)
        throw new GatewayError(
          'upstream_error',
          { model, reason: 'it closed its socket.' },
          { tags: ['connect'], retry: 'same' },
        )
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
function opened<T>(socket: WebSocket, made: () => T, { model, scope, timeout, error }: Dialing): Promise<T> {
  return new Promise((resolve, reject) => {
    const over = () => {
      forget()
      clearTimeout(late)
    }
    const fail = (failure: Error) => {
      over()
      reject(failure)
      socket.terminate()
    }
    const late = setTimeout(
      () => fail(new GatewayError('upstream_timeout', { model, limit: 'connect' }, { tags: ['connect', 'timeout'] })),
      timeout,
    ).unref()
    const forget = scope.onAbort(fail)
    socket.once('open', () => {
      over()
      resolve(made())
    })
    socket.once('unexpected-response', (_request, response: IncomingMessage) => {
      readStart(response, (text) => fail(refused(response, text, { model, error })))
    })
    // Stays attached: terminating a socket that is still connecting emits an error.
    socket.on('error', (cause) => fail(unreachable(cause, model)))
  })
}

/** Most bytes of the body of a refusal that are read. */
const refusalLimit = 64 * 1024

/** Reads the start of a body, and calls `done` once with what has arrived when it ends, breaks off or is too long. */
function readStart(response: IncomingMessage, done: (text: string) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  const end = () => {
    response.off('data', take).off('close', end)
    done(Buffer.concat(chunks).toString())
  }
  const take = (chunk: Buffer) => {
    chunks.push(chunk)
    if ((size += chunk.length) > refusalLimit) end()
  }
  response.on('error', () => response.destroy())
  response.on('data', take).on('close', end)
}

/** The error for an upgrade that the upstream has answered with another status. */
function refused(
  response: IncomingMessage,
  text: string,
  { model, error }: Pick<Dialing, 'model' | 'error'>,
): GatewayError {
  const { statusCode: status = 0, headers } = response
  const tags = status > 0 ? [String(status)] : ['invalid']
  const failure = error?.parse(status, parsedJson(text))
  const told = failure?.message ?? ''
  const answered = `it refused a socket with status ${status}`
  if (status === 401 || status === 403) {
    const message = `The provider of "${model}" refused the credentials of the gateway with status ${status}.`
    const cause = new Error(told || answered)
    return refusedAccess({ code: null, type: '', ...failure, status, message: told }, model, { message, tags, cause })
  }
  const retryAfter = retryAfterOf({ 'retry-after': headers['retry-after'] ?? '' })
  return new GatewayError(
    'upstream_error',
    { model, reason: told === '' ? `${answered}.` : `${answered}: ${told}` },
    {
      tags,
      ...(status === 429 || status === 503 ? { retry: 'same' as const } : {}),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    },
  )
}

function unreachable(cause: Error, model: string): GatewayError {
  return new GatewayError('upstream_unreachable', { model }, { cause, tags: ['connect'] })
}
