import { GatewayError, Refusal } from '../../engine/index.ts'
import { asGatewayError, headerLines, passedOn } from '../../engine/kit.ts'
import type { Answer, Records, Source } from '../../engine/index.ts'
import type { openHttp } from '../../engine/kit.ts'
import type { Message, RequestMessage } from './message.ts'
import { parameterPrefix } from './parameter-headers.ts'
import { discard } from './upstream.ts'
import type { Opened, Sending, Upstream } from './upstream.ts'

type Http = ReturnType<typeof openHttp>

/** Settings for requests to servers. */
export interface HttpOptions {
  /** Version of the gateway, which its requests name. */
  readonly version: string
  /** Names of headers of clients that are passed on, beside those of the protocol. */
  readonly forwarded: readonly string[]
}

/** Headers of the protocol (MCP, basic/transports) that pass from a client to a server. */
const protocolHeaders = ['accept', 'last-event-id', 'mcp-method', 'mcp-name', 'mcp-protocol-version']

/** A server that speaks Streamable HTTP. Bodies pass as they came; the id of the session is the server's own. */
export class HttpUpstream implements Upstream {
  readonly stateless = true
  readonly #name: string
  readonly #http: Http
  readonly #target: ReturnType<Http['target']>
  /** Names of the headers that the gateway sets itself. */
  readonly #own: ReadonlySet<string>
  readonly #forwarded: readonly string[]

  constructor({ name, url = '', headers }: Records['mcp_server'], http: Http, { version, forwarded }: HttpOptions) {
    const lines = linesOf({ 'user-agent': `sluice/${version}` }, headers)
    this.#name = name
    this.#http = http
    this.#own = new Set(lines.filter((_, index) => index % 2 === 0))
    this.#target = http.target(new URL(url), lines)
    this.#forwarded = [...protocolHeaders, ...forwarded.map((header) => header.toLowerCase())]
  }

  async open(message: RequestMessage, sending: Sending): Promise<Opened> {
    const answer = await this.post(message, sending, undefined)
    const session = answer.headers['mcp-session-id']
    return session === undefined || session === '' ? { answer } : { answer, session }
  }

  post(message: Message, sending: Sending, session: string | undefined): Promise<Answer> {
    const body = { body: message.raw, contentType: 'application/json' }
    return this.#told(this.#http.post(this.#target, { ...this.#call(sending), ...body }, this.#lines(sending, session)))
  }

  listen(sending: Sending, session: string | undefined): Promise<Answer> {
    return this.#told(this.#http.ask(this.#target, 'GET', this.#call(sending), this.#lines(sending, session)))
  }

  end(session: string, sending: Sending): Promise<Answer> {
    return this.#told(this.#http.ask(this.#target, 'DELETE', this.#call(sending), this.#lines(sending, session)))
  }

  #call({ scope, silence }: Sending) {
    // A tool may have had its effect although its answer is lost.
    return { model: this.#name, scope, once: true, timeouts: { firstByte: silence, idle: silence, total: 0 } }
  }

  #lines({ headers, trace }: Sending, session: string | undefined): string[] {
    const parameters = Object.keys(headers).filter((name) => name.startsWith(parameterPrefix))
    const names = [...this.#forwarded, ...parameters].filter((name) => !this.#own.has(name))
    const context = trace === undefined ? [] : Object.entries(trace).flat().map(String)
    return [...passedOn(headers, names), ...context, ...(session === undefined ? [] : ['mcp-session-id', session])]
  }

  /** The answer, or a failure in words about a server. */
  async #told(answering: Promise<Answer>): Promise<Answer> {
    const answer = await answering.catch((error: unknown) => Promise.reject(this.#failure(asGatewayError(error))))
    // A client would take it for the refusal of its own key.
    if (answer.status === 401) {
      discard(answer)
      throw this.#failure(new GatewayError('upstream_refused_key'))
    }
    return { ...answer, body: this.#failing(answer.body) }
  }

  #failing(body: Source): Source {
    return {
      open: (sink) =>
        body.open({
          data: (chunk) => sink.data(chunk),
          end: () => sink.end(),
          fail: (error) => sink.fail(this.#failure(asGatewayError(error))),
        }),
    }
  }

  #failure(error: GatewayError): GatewayError {
    const { code, tags } = error
    const isUnreached = code === 'upstream_timeout' && tags.includes('connect')
    const row = isUnreached ? 'upstream_unreachable' : code
    const reason = reasons.get(row)
    if (reason === undefined) return error
    return new GatewayError(row, {}, { message: `The MCP server "${this.#name}" ${reason}.`, cause: error.cause })
  }
}

const reasons = new Map<string, string>([
  ['upstream_unreachable', 'could not be reached'],
  ['upstream_timeout', 'did not answer in time'],
  ['upstream_error', 'closed the connection without a complete answer'],
  ['upstream_invalid_response', 'sent an answer that cannot be relayed'],
  ['upstream_refused_key', 'refused the credentials of the gateway'],
])

function linesOf(own: Readonly<Record<string, string>>, given: Records['mcp_server']['headers']): readonly string[] {
  try {
    return headerLines(own, given)
  } catch (error) {
    throw new Refusal((error as Error).message, ['headers'])
  }
}
