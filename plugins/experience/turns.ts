import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Conversations that are followed; each takes some hundred bytes. */
const mostConversations = 5_000
/** Milliseconds within which a next request says something about the last answer. */
const soon = 600_000

/** A request of a conversation. */
export interface Turn<D> {
  /** Id of the conversation. */
  readonly conversation: string
  /** What was asked, without what clients add to it. */
  readonly ask: string
  /** User turns so far. */
  readonly turn: number
  /** Tool results since the last user turn. */
  readonly step: number
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  /** The decision that was answered; undefined: it was not. */
  readonly decision: D | undefined
}

interface Last<D> extends Pick<Turn<D>, 'turn' | 'decision'> {
  readonly asked: string
  /** When its answer ended. */
  readonly endedAt: number
}

/** What the next user turn of a conversation says about the answer before: it was good enough, or asked for again. */
export class Turns<D> {
  readonly #last = new LRUCache<string, Last<D>>({ max: mostConversations })

  /**
   * Follows a request that has ended now. Returns the decision before it, and its reward, if the request says something
   * about it.
   */
  follow(next: Turn<D>, now = Date.now()): { readonly decision: D; readonly reward: 0 | 1 } | undefined {
    const { conversation, ask, turn, step, at, decision } = next
    const last = this.#last.get(conversation)
    const asked = hash('sha256', ask, 'base64')
    this.#last.set(conversation, { turn, decision, asked, endedAt: now })
    // A request with tool results goes on with the same turn of the user.
    if (last?.decision === undefined || step > 0 || at - last.endedAt > soon) return undefined
    const isRepeated = ask !== '' && asked === last.asked
    if (turn > last.turn) return { decision: last.decision, reward: isRepeated ? 0 : 1 }
    return turn === last.turn && isRepeated ? { decision: last.decision, reward: 0 } : undefined
  }
}
