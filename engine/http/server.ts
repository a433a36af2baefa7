import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import Koa from 'koa'
import type { Logger } from 'pino'
import { GatewayError } from '../spec/error.ts'
import type { Ingress } from '../spec/slots.ts'
import type { Live } from '../live/live.ts'
import type { Snapshot } from '../live/snapshot.ts'
import { byteBudget, readBody } from './body.ts'
import type { ByteBudget } from './body.ts'
import { errorReply, runExchange } from './exchange.ts'
import { suspicious } from './guard.ts'
import { sendReply } from './reply.ts'
import { createRoutes } from './routes.ts'
import type { Matched, Routes } from './routes.ts'
import { ExchangeScope } from './scope.ts'

/** Bytes of request bodies one process holds at once. */
const bodyBudget = 1024 * 1024 * 1024

export interface HttpOptions {
  readonly live: Live
  readonly log: Logger
  /** Requests under way are told apart from idle connections by it. */
  readonly draining: () => boolean
}

/** The HTTP server: Koa as the shell, the running snapshot's pipelines behind its router. */
export function createHttpServer({ live, log, draining }: HttpOptions): Server {
  const budget = byteBudget(bodyBudget)
  const routesOf = new WeakMap<Snapshot, Routes>()
  const app = new Koa()
  app.silent = true
  app.use(async (context) => {
    // The exchange writes to the response itself: a stream outlives Koa's idea of a body.
    context.respond = false
    const { req, res } = context
    const snapshot = live.acquire()
    try {
      if (draining()) res.setHeader('connection', 'close')
      let routes = routesOf.get(snapshot)
      if (!routes) routesOf.set(snapshot, (routes = createRoutes(snapshot)))
      await serve(req, res, routes.match(context), budget)
    } catch (error) {
      log.error({ err: error }, 'an exchange ended without a reply')
      res.destroy()
    } finally {
      live.release(snapshot)
    }
  })
  const server = createServer(
    {
      keepAliveTimeout: 65_000,
      requestTimeout: 300_000,
      headersTimeout: 30_000,
      connectionsCheckingInterval: 2_000,
      noDelay: true,
    },
    app.callback(),
  )
  server.on('clientError', refuseUnreadable)
  return server
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  matched: Matched,
  budget: ByteBudget,
): Promise<void> {
  const scope = new ExchangeScope()
  const send = (reply: Parameters<typeof sendReply>[1], headers: Record<string, string>) => {
    // Bytes of a body that nobody read would be taken for the next request.
    if (!request.complete) headers['connection'] = 'close'
    return sendReply(response, reply, headers)
  }
  const wrong = suspicious(request)
  if (wrong !== undefined || 'error' in matched) {
    const error =
      wrong === undefined && 'error' in matched
        ? matched.error
        : new GatewayError('invalid_request', { reason: `The request cannot be read safely: ${wrong}.` })
    const reply = errorReply(error, 'error' in matched ? matched.codec : undefined, scope.id)
    await send(reply, { ...reply.headers, 'x-request-id': scope.id })
    return
  }
  let taken = 0
  response.on('close', () => {
    budget.give(taken)
    if (!response.writableFinished) scope.abort(new GatewayError('client_closed'))
  })
  const ingress = ingressOf(request, matched, (limit) => readBody(request, limit, budget, (bytes) => (taken += bytes)))
  await runExchange(matched.pipeline, matched.codec, ingress, scope, send)
}

function ingressOf(
  request: IncomingMessage,
  { path, params }: Extract<Matched, { pipeline: unknown }>,
  body: Ingress['body'],
): Ingress {
  const { url = '/', method = 'GET', headers, socket } = request
  let query: URLSearchParams | undefined
  return {
    method,
    path,
    params,
    get query() {
      const mark = url.indexOf('?')
      return (query ??= new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1)))
    },
    headers,
    transport: 'http',
    remote: socket.remoteAddress ?? '',
    body,
  }
}

/** What is no HTTP gets the plain status that its error calls for, and its connection closed. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, text] = unreadable.get(error.code ?? '') ?? [400, 'Bad Request']
  const body = JSON.stringify({
    error: { message: text, type: 'invalid_request_error', param: null, code: 'invalid_request' },
  })
  socket.end(
    `HTTP/1.1 ${status} ${text}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  )
}

const unreadable = new Map<string, readonly [number, string]>([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'Payload Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
])
