import { GatewayError } from '../../engine/index.ts'
import { BytesBody } from '../../engine/kit.ts'
import type { Answer } from '../../engine/index.ts'
import { madeMessage } from './message.ts'
import type { Message, RequestId, RequestMessage } from './message.ts'
import type { Peers } from './peers.ts'
import { discard, endless } from './upstream.ts'
import type { Opened, Sending, Upstream } from './upstream.ts'

/** The server in the process with an address. With `worked`, a request is answered when one with its id is worked on no more. */
type PeerAt = (address: string, question?: 'worked') => Upstream

/**
 * A server whose sessions live in one process each, for a gateway of several processes: a request that arrives in
 * another process is passed on to the one that has the session. The name of a session begins with its process.
 */
export class PeeredUpstream implements Upstream {
  readonly stateless = false
  readonly #own: Upstream
  readonly #peers: Peers
  readonly #at: PeerAt

  /** @param at the same server, in the process with an address */
  constructor(own: Upstream, peers: Peers, at: PeerAt) {
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
    return this.#there(session, async (upstream, name) => {
      if (upstream === this.#own) return upstream.post(message, sending, name)
      // Who asks later whether the request is worked on must not overtake it.
      const sent = Promise.withResolvers<void>()
      const onAbort: Sending['scope']['onAbort'] = (listener) =>
        sending.scope.onAbort((reason) => void sent.promise.then(() => listener(reason)))
      return upstream.post(message, { ...sending, scope: { onAbort } }, name).finally(sent.resolve)
    })
  }

  async worked(id: RequestId, session: string): Promise<void> {
    const [address = '', name = ''] = session.split(' ')
    if (address === this.#peers.address) return this.#own.worked?.(id, name)
    const message = madeMessage({ jsonrpc: '2.0', id, method: 'ping' })
    const asked = this.#at(address, 'worked').post(message, { scope: endless, headers: {}, silence: 0 }, name)
    // Nothing works in a process that is gone.
    await asked.then(discard, () => undefined)
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
