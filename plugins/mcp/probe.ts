import { GatewayError } from '../../engine/index.ts'
import { FrameDecoder, asText, bufferOf, isObject, parsedObject } from '../../engine/kit.ts'
import type { Answer, Json, JsonObject, Scope, ServiceHost } from '../../engine/index.ts'
import { madeMessage, ownMembers, versionMember } from './message.ts'
import type { Message, RequestMessage } from './message.ts'
import type { Server } from './mcp.ts'
import type { Sending } from './upstream.ts'
import { discard } from './upstream.ts'
import { statelessVersion } from './versions.ts'

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

/** How a probe speaks with its server. */
interface Spoken {
  readonly version: string
  /** The server's own name of the session; absent: it keeps none. */
  readonly session?: string | undefined
}

/** A session of the gateway's own with a server, or requests without one, to find out what it offers. */
export class Probe {
  readonly #server: Server
  readonly #probing: Probing
  readonly #spoken: Spoken
  /** What the server has said of itself. */
  #result: JsonObject = {}
  #asked = 0

  private constructor(server: Server, probing: Probing, spoken: Spoken) {
    this.#server = server
    this.#probing = probing
    this.#spoken = spoken
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
    const probe = await Probe.#initialize(server, probing).catch((error: unknown) => {
      if (!server.upstream.stateless || !(error instanceof GatewayError) || error.code !== 'upstream_error') throw error
      // It may speak only the revision without sessions. If not, its first words are the ones to be told.
      return Probe.#discover(server, probing).catch(() => Promise.reject(error))
    })
    server.state.opened(probe.#result, Math.round(performance.now() - begun))
    return probe
  }

  static async #initialize(server: Server, probing: Probing): Promise<Probe> {
    const params = { protocolVersion: newest, capabilities: {}, clientInfo: clientInfo(probing) }
    const message = messageOf(0, 'initialize', params)
    const { answer, session } = await server.upstream.open(message, sendingOf(server, probing, {}))
    const result = await resultOf(answer, message, probing.limit)
    const probe = new Probe(server, probing, { version: asText(result['protocolVersion']), session })
    probe.#result = result
    discard(await probe.#send(madeMessage({ jsonrpc: '2.0', method: 'notifications/initialized' })))
    return probe
  }

  static async #discover(server: Server, probing: Probing): Promise<Probe> {
    const probe = new Probe(server, probing, { version: statelessVersion })
    probe.#result = await probe.#ask('server/discover', {})
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
    const message = messageOf(
      ++this.#asked,
      method,
      this.#isStateless ? { ...params, _meta: this.#envelope() } : params,
    )
    return resultOf(await this.#send(message), message, this.#probing.limit)
  }

  #send(message: Message): Promise<Answer> {
    const method = this.#isStateless && message.kind === 'request' ? { 'mcp-method': message.method } : {}
    const headers = { 'mcp-protocol-version': this.#spoken.version, ...method }
    return this.#server.upstream.post(message, sendingOf(this.#server, this.#probing, headers), this.#spoken.session)
  }

  get #isStateless(): boolean {
    return this.#spoken.version === statelessVersion
  }

  /** What every request says of its client where there are no sessions (MCP 2026-07-28, basic). */
  #envelope(): JsonObject {
    return {
      [versionMember]: statelessVersion,
      [`${ownMembers}clientInfo`]: clientInfo(this.#probing),
      [`${ownMembers}clientCapabilities`]: {},
    }
  }

  async #end(): Promise<void> {
    const { session, version } = this.#spoken
    if (session === undefined) return
    const sending = sendingOf(this.#server, this.#probing, { 'mcp-protocol-version': version })
    // It has said what was asked; a server that keeps the session ends it in its own time.
    const ending = this.#server.upstream.end(session, sending)
    await ending.then(discard, () => undefined)
  }
}

function clientInfo({ host }: Probing): JsonObject {
  return { name: 'sluice', version: host.version }
}

function sendingOf({ silence }: Server, { scope }: Probing, more: Sending['headers']): Sending {
  return { scope, silence, headers: { accept: 'application/json, text/event-stream', ...more } }
}

function messageOf(id: number, method: string, params: JsonObject): RequestMessage {
  return madeMessage({ jsonrpc: '2.0', id, method, params }) as RequestMessage
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
