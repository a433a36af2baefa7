import { GatewayError } from '../../engine/index.ts'
import { BytesBody } from '../../engine/kit.ts'
import type { Answer } from '../../engine/index.ts'
import type { Message, RequestId, RequestMessage } from './message.ts'
import type { StdioServer } from './stdio-server.ts'
import type { Opened, Sending, Upstream } from './upstream.ts'

/** What the record of a server says of starting its program. */
export interface StdioOptions {
  readonly restarts: number
  /** The field of its record that the operator does not allow; undefined: the program may be started. */
  readonly misfit: string | undefined
}

/** A program that the gateway starts, as a server that speaks Streamable HTTP. */
export class StdioUpstream implements Upstream {
  readonly stateless = false
  readonly #server: StdioServer
  readonly #restarts: number
  readonly #misfit: string | undefined

  constructor(server: StdioServer, { restarts, misfit }: StdioOptions) {
    this.#server = server
    this.#restarts = restarts
    this.#misfit = misfit
  }

  async open(message: RequestMessage, { scope, silence }: Sending): Promise<Opened> {
    if (this.#misfit !== undefined) throw this.#server.notAllowed(this.#misfit)
    const { id, session } = this.#server.start(this.#restarts)
    const leave = () => void this.#server.end(id)
    const release = scope.onAbort(leave)
    try {
      const { text, value } = await session.initialize(message, silence)
      const answer = answered(200, text)
      if (value['error'] === undefined) return { answer, session: id, over: session.over }
      leave()
      return { answer }
    } catch (error) {
      leave()
      throw error
    } finally {
      release()
    }
  }

  async post(message: Message, sending: Sending, session: string | undefined): Promise<Answer> {
    return this.#find(session)?.post(message, sending) ?? answered(404)
  }

  async listen(sending: Sending, session: string | undefined): Promise<Answer> {
    return this.#find(session)?.listen(sending) ?? answered(404)
  }

  async worked(id: RequestId, session: string): Promise<void> {
    await this.#server.find(session)?.worked(id)
  }

  async end(session: string): Promise<Answer> {
    return answered((await this.#server.end(session)) ? 200 : 404)
  }

  retire(): void {
    void this.#server.endAll('its configuration has changed')
  }

  #find(session: string | undefined) {
    // Its answers would belong to nobody.
    if (session === undefined) throw new GatewayError('invalid_request', { reason: 'Send initialize first.' })
    return this.#server.find(session)
  }
}

function answered(status: number, text = ''): Answer {
  const headers = text === '' ? {} : { 'content-type': 'application/json' }
  return { status, headers, body: new BytesBody(Buffer.from(text)).open() }
}
