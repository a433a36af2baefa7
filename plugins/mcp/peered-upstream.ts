import { GatewayError } from '../../engine/index.ts'
import { BytesBody } from '../../engine/kit.ts'
import type { Answer } from '../../engine/index.ts'
import type { Message, RequestMessage } from './message.ts'
import type { Peers } from './peers.ts'
import type { Opened, Sending, Upstream } from './upstream.ts'

/**
 * A server whose sessions live in one process each, for a gateway of several processes: a request that arrives in
 * another process is passed on to the one that has the session. The name of a session begins with its process.
 */
export class PeeredUpstream implements Upstream {
  readonly stateless = false
  readonly #own: Upstream
  readonly #peers: Peers
  readonly #at: (address: string) => Upstream

  /** @param at the same server, in the process with an address */
  constructor(own: Upstream, peers: Peers, at: (address: string) => Upstream) {
    this.#own = own
    this.#peers = peers
    this.#at = at
  }

  async open(message: RequestMessage, sending: Sending): Promise<Opened> {
    const address = await this.#peers.open()
    const opened = await this.#own.open(message, sending)
    return opened.session === undefined ? opened : { ...opened, session: `${address} ${opened.session}` }
  }

  post(message: Message, sending: Sending, session: string | undefined): Promise<Answer> {
    if (session === undefined) return this.#own.post(message, sending, session)
    return this.#there(session, (upstream, name) => upstream.post(message, sending, name))
  }

  listen(sending: Sending, session: string | undefined): Promise<Answer> {
    if (session === undefined) return this.#own.listen(sending, session)
    return this.#there(session, (upstream, name) => upstream.listen(sending, name))
  }

  end(session: string, sending: Sending): Promise<Answer> {
    return this.#there(session, (upstream, name) => upstream.end(name, sending))
  }

  retire(): void {
    this.#own.retire?.()
  }

  async #there(session: string, ask: (upstream: Upstream, name: string) => Promise<Answer>): Promise<Answer> {
    const [address = '', name = ''] = session.split(' ')
    if (address === this.#peers.address) return ask(this.#own, name)
    try {
      return await ask(this.#at(address), name)
    } catch (error) {
      // The session has ended with its process.
      if (error instanceof GatewayError && error.code === 'upstream_unreachable')
        return { status: 404, headers: {}, body: new BytesBody(Buffer.alloc(0)).open() }
      throw error
    }
  }
}
