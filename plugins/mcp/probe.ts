import { GatewayError } from '../../engine/index.ts'
import { BytesBody, FrameDecoder, asText, bufferOf, isObject, parsedObject } from '../../engine/kit.ts'
import type { Answer, Json, JsonObject, Scope, ServiceHost } from '../../engine/index.ts'
import { readMessage } from './message.ts'
import type { RequestMessage } from './message.ts'
import type { Server } from './mcp.ts'
import type { Sending } from './upstream.ts'
import { discard } from './upstream.ts'

/** Newest revision with sessions. */
const newest = '2025-11-25'
/** Most pages of a list. */
const mostPages = 100

/** What a probe needs beside the server. */
export interface Probing {
  readonly scope: Pick<Scope, 'onAbort'>
  readonly host: Pick<ServiceHost, 'version'>
  /** Most bytes of an answer. */
  readonly limit: number
}

/** A session of the gateway's own with a server, to find out what it offers. */
export class Probe {
  readonly #server: Server
  readonly #probing: Probing
  readonly #session: string | undefined
  readonly #result: JsonObject
  #asked = 0

  private constructor(server: Server, probing: Probing, session: string | undefined, result: JsonObject) {
    this.#server = server
    this.#probing = probing
    this.#session = session
    this.#result = result
  }

  /** Opens a session, uses it and ends it. Rejects with errors of the upstream. The state of the server follows. */
  static async with<T>(server: Server, probing: Probing, use: (probe: Probe) => Promise<T>): Promise<T> {
    const probe = await Probe.#open(server, probing).catch((error: unknown) => {
      server.state.failed(error)
      throw error
    })
    try {
      return await use(probe)
    } finally {
      await probe.#end()
    }
  }

  static async #open(server: Server, probing: Probing): Promise<Probe> {
    const begun = performance.now()
    const params = {
      protocolVersion: newest,
      capabilities: {},
      clientInfo: { name: 'sluice', version: probing.host.version },
    }
    const message = messageOf(0, 'initialize', params)
    const { answer, session } = await server.upstream.open(message, sendingOf(server, probing))
    const result = await resultOf(answer, message, probing.limit)
    server.state.opened(result, Math.round(performance.now() - begun))
    const probe = new Probe(server, probing, session, result)
    discard(await probe.#send({ jsonrpc: '2.0', method: 'notifications/initialized' }))
    return probe
  }

  /** All entries of a list, such as `tools` of `tools/list`; none if the server has no such list. */
  async list(method: string, member: string): Promise<readonly JsonObject[]> {
    const { capabilities } = this.#result
    if (!isObject(capabilities) || capabilities[method.split('/', 1)[0] ?? ''] === undefined) return []
    const found: JsonObject[] = []
    let cursor: Json | undefined
    for (let pages = 0; pages < mostPages; pages++) {
      const result = await this.#ask(method, cursor === undefined ? {} : { cursor })
      const entries = result[member]
      if (Array.isArray(entries)) found.push(...(entries as readonly Json[]).filter((entry) => isObject(entry)))
      cursor = result['nextCursor']
      if (typeof cursor !== 'string') break
    }
    return found
  }

  async #ask(method: string, params: JsonObject): Promise<JsonObject> {
    const message = messageOf(++this.#asked, method, params)
    return resultOf(await this.#send(message.value), message, this.#probing.limit)
  }

  #send(value: JsonObject): Promise<Answer> {
    const message = readMessage(new BytesBody(Buffer.from(JSON.stringify(value))))
    const sending = sendingOf(this.#server, this.#probing, asText(this.#result['protocolVersion']))
    return this.#server.upstream.post(message, sending, this.#session)
  }

  async #end(): Promise<void> {
    if (this.#session === undefined) return
    // It has said what was asked; a server that keeps the session ends it in its own time.
    const ending = this.#server.upstream.end(this.#session, sendingOf(this.#server, this.#probing))
    await ending.then(discard, () => undefined)
  }
}

function sendingOf({ silence }: Server, { scope }: Probing, version?: string): Sending {
  const headers = {
    accept: 'application/json, text/event-stream',
    ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
  }
  return { scope, silence, headers }
}

function messageOf(id: number, method: string, params: JsonObject): RequestMessage {
  const raw = new BytesBody(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params })))
  return readMessage(raw) as RequestMessage
}

/** The result of a request. Rejects with `upstream_error` for an error, and with `upstream_invalid_response`. */
async function resultOf(answer: Answer, { id, method }: RequestMessage, limit: number): Promise<JsonObject> {
  if (answer.status !== 200) {
    discard(answer)
    throw failure(`answered ${method} with the status ${answer.status}`)
  }
  const { result, error } = await answerIn(answer, id, limit)
  if (isObject(result)) return result
  const reason = isObject(error) ? asText(error['message']).slice(0, 256) : 'it is no JSON-RPC answer'
  throw failure(`refused ${method}: ${reason}`)
}

/** The answer to a request, in a whole body or among the messages of a stream, which is then left. */
function answerIn({ headers, body }: Answer, id: RequestMessage['id'], limit: number): Promise<JsonObject> {
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true
  const { promise, resolve, reject } = Promise.withResolvers<JsonObject>()
  const decoder = new FrameDecoder()
  const parts: Uint8Array[] = []
  let size = 0
  const take = (text: string) => {
    const message = parsedObject(text)
    if (message?.['id'] !== id || message['method'] !== undefined) return
    resolve(message)
    flow.cancel(new Error('the answer is there'))
  }
  const flow = body.open({
    data(chunk) {
      size += chunk.length
      if (size > limit) {
        reject(failure(`sent an answer of more than ${limit} bytes`))
        flow.cancel(new Error('the answer is too long'))
      } else if (isStream) for (const { data } of decoder.push(bufferOf(chunk))) take(data)
      else parts.push(Buffer.from(chunk))
    },
    end() {
      if (!isStream) take(Buffer.concat(parts).toString())
      reject(failure('sent no JSON-RPC answer'))
    },
    fail: reject,
  })
  return promise
}

function failure(what: string): GatewayError {
  return new GatewayError('upstream_error', {}, { message: `The MCP server ${what}.` })
}
