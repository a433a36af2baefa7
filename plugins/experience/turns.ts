import { LRUCache } from 'lru-cache'

/** Conversations that are followed; each takes some hundred bytes. */
const mostConversations = 5_000
/** Milliseconds within which a next request says something about the last answer. */
const soon = 600_000

/** A request of a conversation. */
export interface Turn<D> {
  /** Id of the conversation. */
  readonly conversation: string
  /** Hash of what was asked, without what clients add to it; null: nothing was, in words. */
  readonly ask: string | null
  /** User turns so far. */
  readonly turn: number
  /** Tool results since the last user turn. */
  readonly step: number
  /** Whether the client named the conversation, or sent an answer of it. Anybody may ask the same twice otherwise. */
  readonly isFollowed: boolean
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  /** The decision that was answered; undefined: it was not. */
  readonly decision: D | undefined
}

interface Last<D> extends Pick<Turn<D>, 'turn' | 'decision' | 'ask'> {
  /** When its answer ended. */
  readonly endedAt: number
  /** The last turn whose answer was judged. */
  readonly judged: number
}

/**
 * What the next user turn of a conversation says about the answer before: it was good enough, or asked for again. Of each
 * turn it is said once.
 */
export class Turns<D> {
  readonly #last = new LRUCache<string, Last<D>>({ max: mostConversations })

  /**
   * Follows a request that has ended now. Returns the decision before it, and its reward, if the request says something
   * about it.
   */
  follow(next: Turn<D>, now = Date.now()): { readonly decision: D; readonly reward: 0 | 1 } | undefined {
    const { conversation, ask, turn, decision } = next
    const last = this.#last.get(conversation)
    const reward = last && rewardOf(last, next)
    const judged = reward === undefined ? (last?.judged ?? 0) : (last?.turn ?? 0)
    this.#last.set(conversation, { turn, decision, ask, endedAt: now, judged })
    return last?.decision === undefined || reward === undefined ? undefined : { decision: last.decision, reward }
  }
}

function rewardOf<D>(last: Last<D>, next: Turn<D>): 0 | 1 | undefined {
  const { turn, step, at, ask, isFollowed } = next
  if (last.decision === undefined || !isFollowed || last.turn <= last.judged) return undefined
  // A request with tool results goes on with the same turn of the user.
  if (step > 0 || at - last.endedAt > soon) return undefined
  const isRepeated = ask !== null && ask === last.ask
  if (turn > last.turn) return isRepeated ? 0 : 1
  return turn === last.turn && isRepeated ? 0 : undefined
}
