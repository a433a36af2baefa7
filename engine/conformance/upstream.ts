import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../spec/json.ts'
import { encodeFrame } from '../stream/sse.ts'

type Chunk = string | Uint8Array

/** The upstream's behaviour for one request, after the request was read. */
export interface Script {
  /** Default 200. */
  readonly status?: number
  readonly headers?: OutgoingHttpHeaders
  /** A whole body: text and bytes as they are, anything else as JSON. */
  readonly body?: Json | Uint8Array
  /** A body in chunks; each is written after the client has read the previous one. */
  readonly chunks?: Iterable<Chunk> | AsyncIterable<Chunk>
  /** Server-sent events: text is used as data; other values become JSON. */
  readonly frames?: readonly (string | { readonly event?: string; readonly data: Json })[]
  /** Milliseconds before the answer begins. */
  readonly delay?: number
  /** Milliseconds before each chunk or frame. */
  readonly every?: number
  /** What follows the body: its proper end (default), a closed or reset connection, or nothing. */
  readonly ending?: 'end' | 'close' | 'reset' | 'hang'
  /**
   * Raw bytes instead of a response, in chunks that arrive one by one; `ending` says what follows, by default
   * nothing.
   */
  readonly raw?: Chunk | readonly Chunk[]
  /** Whether to send no response at all. */
  readonly silent?: boolean
}

/** A recorded request, and the state of its response. */
export interface RecordedRequest {
  readonly method: string
  /** Path and query as sent. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Names and values in turn, as sent. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** Bytes of the response body handed to the connection so far. */
  sent: number
  /** Whether the next chunk waits because the client has stopped reading. */
  blocked: boolean
}

type Answering = Script | ((request: RecordedRequest) => Script | Promise<Script>)

/** An upstream on a free local port. It sends scripted responses and records requests. */
export interface ScriptedUpstream {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  readonly requests: readonly RecordedRequest[]
  /** Open connections, idle ones included. */
  readonly sockets: number
  /** Sets the scripts for the next requests: one each, and the last one for all that follow. */
  answer(...scripts: readonly [Answering, ...Answering[]]): void
  /** Resolves once `condition` holds; it is evaluated after every event of this upstream. */
  when(condition: () => boolean): Promise<void>
  /** Resolves with the latest request once there have been `count`. */
  received(count?: number): Promise<RecordedRequest>
  /** Resolves once no request is being answered: each response is complete or its connection has closed. */
  closed(): Promise<void>
  /** Closes the port and all connections. */
  close(): Promise<void>
}

export async function scriptedUpstream(): Promise<ScriptedUpstream> {
  const requests: RecordedRequest[] = []
  const sockets = new Set<Socket>()
  const answering = new Set<ServerResponse>()
  const watchers = new Set<() => void>()
  const changed = () => watchers.forEach((look) => look())
  let scripts: readonly Answering[] = [{ status: 500, body: { error: { message: 'this upstream was told nothing' } } }]

  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, (request, response) => {
    answering.add(response)
    response.on('close', () => {
      answering.delete(response)
      changed()
    })
    void read(request).then(async (recorded) => {
      requests.push(recorded)
      const [script = {}, ...rest] = scripts
      if (rest.length > 0) scripts = rest
      changed()
      await perform(typeof script === 'function' ? await script(recorded) : script, response, recorded, changed)
    }, nobodyAsks)
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => {
      sockets.delete(socket)
      changed()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const when = (condition: () => boolean) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!condition()) return
        watchers.delete(look)
        resolve()
      }
      watchers.add(look)
      look()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get sockets() {
      return sockets.size
    },
    answer: (...next) => {
      scripts = next
    },
    when,
    async received(count = 1) {
      await when(() => requests.length >= count)
      return requests[count - 1] as RecordedRequest
    },
    closed: () => when(() => answering.size === 0),
    async close() {
      const gone = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await gone
    },
  }
}

/** A request whose client disconnected during the upload gets no response. */
const nobodyAsks = () => undefined

async function read(request: IncomingMessage): Promise<RecordedRequest> {
  const body = Buffer.concat(await request.toArray())
  const { method = '', url: path = '', headers, rawHeaders } = request
  return { method, path, headers, rawHeaders, body, sent: 0, blocked: false }
}

async function perform(script: Script, response: ServerResponse, recorded: RecordedRequest, changed: () => void) {
  if (script.delay !== undefined) await sleep(script.delay)
  const socket = response.socket
  if (script.silent || !socket || response.destroyed) return
  if (script.raw !== undefined) {
    for (const piece of [script.raw].flat()) {
      socket.write(piece)
      // Otherwise the client would read both chunks at once.
      await sleep(2)
    }
    return finish(script.ending ?? 'hang', response, socket)
  }
  const type = script.frames ? 'text/event-stream' : isBytes(script.body) ? undefined : 'application/json'
  response.writeHead(script.status ?? 200, { ...(type ? { 'content-type': type } : {}), ...script.headers })
  if (script.body === undefined) response.flushHeaders()
  for await (const chunk of chunksOf(script)) {
    if (script.every !== undefined) await sleep(script.every)
    if (response.destroyed) return
    recorded.sent += chunk.length
    recorded.blocked = !response.write(chunk)
    changed()
    if (recorded.blocked) await drained(response)
    recorded.blocked = false
  }
  finish(script.ending ?? 'end', response, socket)
}

/** Resolves when more can be written, or the connection has closed. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
}

function finish(how: NonNullable<Script['ending']>, response: ServerResponse, socket: Socket): void {
  if (how === 'end') response.end()
  if (how === 'close') socket.end()
  if (how === 'reset') socket.resetAndDestroy()
}

function chunksOf({ body, chunks, frames }: Script): Iterable<Chunk> | AsyncIterable<Chunk> {
  if (frames) return frames.map(frameText)
  if (chunks) return chunks
  if (body === undefined) return []
  return [isBytes(body) ? body : JSON.stringify(body)]
}

function frameText(frame: string | { readonly event?: string; readonly data: Json }): string {
  if (typeof frame === 'string') return encodeFrame({ data: frame })
  const data = typeof frame.data === 'string' ? frame.data : JSON.stringify(frame.data)
  return encodeFrame(frame.event === undefined ? { data } : { event: frame.event, data })
}

function isBytes(body: Script['body']): body is Chunk {
  return typeof body === 'string' || body instanceof Uint8Array
}
