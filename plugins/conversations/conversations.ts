import { defineService } from '../../engine/index.ts'
import type { Envelope, KeyValue, Principal, ServiceHost } from '../../engine/index.ts'
import { within } from '../../engine/kit.ts'
import { conversationOf, keyed, nameOf } from './conversation-key.ts'

/** What is remembered of a conversation. */
export type Remembered = 'last_model' | 'last_provider'

/** What was found in the store. */
export interface Recalled {
  /** Absent: nothing was remembered, or the store did not answer in time. */
  readonly value?: string
  /** Whether the store answered in time; also true without a shared store, which is not asked. */
  readonly isKnown: boolean
}

/**
 * Conversations, and what served them last, in the shared key-value store. Without one, nothing is remembered: a
 * process alone would send the next request of a conversation elsewhere than the process beside it.
 */
export interface Conversations {
  /** Whether anything is remembered. */
  readonly isShared: boolean
  /** The id of the conversation of a request: 64 hexadecimal digits; undefined: it is no conversation. */
  of(request: Envelope, principal: Principal): string | undefined
  /** Whether the client itself says which conversation a request belongs to. */
  isNamed(request: Envelope): boolean
  /** An id that all requests of an API key share. */
  ofKey(principal: Principal): string
  /** Reads within 50 milliseconds. Never rejects. */
  recall(conversation: string, what: Remembered): Promise<Recalled>
  /**
   * Writes without being waited for.
   * @param ttl milliseconds
   */
  remember(conversation: string, what: Remembered, value: string, ttl: number): void
}

declare module '../../engine/index.ts' {
  interface Services {
    conversations: Conversations
  }
}

/** Milliseconds that a request waits for the store. */
const patience = 50

export default defineService({
  name: 'conversations',
  summary: 'Remembers what served each conversation last, in the shared key-value store.',
  open: (host) => ({ configure: () => ({ view: new Memory(host) }) }),
})

class Memory implements Conversations {
  readonly #keyValue: KeyValue
  readonly #log: ServiceHost['log']

  constructor({ keyValue, log }: Pick<ServiceHost, 'keyValue' | 'log'>) {
    this.#keyValue = keyValue
    this.#log = log
  }

  get isShared(): boolean {
    return this.#keyValue.shared
  }

  of(request: Envelope, principal: Principal): string | undefined {
    return conversationOf(request, principal.id)
  }

  isNamed(request: Envelope): boolean {
    return nameOf(request) !== undefined
  }

  ofKey({ id }: Principal): string {
    return keyed(id, 'key', '')
  }

  async recall(conversation: string, what: Remembered): Promise<Recalled> {
    if (!this.isShared) return { isKnown: true }
    try {
      const held = await within(this.#keyValue.get(storeKey(conversation, what)), patience, 'the store is too slow')
      return { isKnown: true, ...(held && { value: held.value.toString() }) }
    } catch (error) {
      // Any model and any place can serve: a store that is down, which health reports, must not fail the request.
      this.#log.debug({ err: error, what }, 'what served a conversation is not known')
      return { isKnown: false }
    }
  }

  remember(conversation: string, what: Remembered, value: string, ttl: number): void {
    if (!this.isShared) return
    this.#keyValue.set(storeKey(conversation, what), Buffer.from(value), { ttl }).catch((error: unknown) => {
      this.#log.debug({ err: error, what }, 'what served a conversation is not remembered')
    })
  }
}

function storeKey(conversation: string, what: Remembered): string {
  return `routing:conv:${conversation}:${what}`
}
