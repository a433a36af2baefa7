import type { Principal } from '../spec/principal.ts'
import type { ByteBudget } from '../spec/source.ts'
import type { Room } from '../stream/byte-budget.ts'
import type { ShareLimits } from '../config/limits.ts'
import { isIPv6 } from 'node:net'

/** One who shares bytes with others. */
interface Sharer {
  readonly name: string
  /** Bytes that it may hold while there are any left. */
  readonly bytes: number
  /** How many times as much as it leaves to others it may hold beyond them. */
  readonly part: number
}

/** Names that stay known with no bytes: a table that grows and shrinks with each request is made anew each time. */
const kept = 64

/**
 * Bytes that clients share, so that no client can hold those of all others. An API key may hold as much as it leaves,
 * and all keys and sessions of a member three times as much. Clients without a key have fixed shares: one for each
 * network, and one for all of them.
 */
export class Shares {
  readonly #room: Room
  readonly #limits: ShareLimits
  readonly #used = new Map<string, number>()
  /** The shares of clients by who they are: most requests are of few. */
  readonly #known = new WeakMap<Principal, ByteBudget>()

  constructor(room: Room, limits: ShareLimits) {
    this.#room = room
    this.#limits = limits
  }

  /**
   * The share of a client.
   * @param principal undefined: not authenticated, or not yet
   * @param address its IP address
   */
  of(principal: Principal | undefined, address: string): ByteBudget {
    if (principal === undefined) return this.#shareOf(this.#sharers(undefined, address))
    let share = this.#known.get(principal)
    if (!share) this.#known.set(principal, (share = this.#shareOf(this.#sharers(principal, address))))
    return share
  }

  #shareOf(sharers: readonly Sharer[]): ByteBudget {
    return {
      take: (bytes) => {
        if (bytes <= 0) return true
        if (!sharers.every((sharer) => this.#admits(sharer, bytes)) || !this.#room.take(bytes)) return false
        for (const { name } of sharers) this.#used.set(name, this.#usedBy(name) + bytes)
        return true
      },
      give: (bytes) => {
        this.#room.give(bytes)
        for (const { name } of sharers) {
          const left = this.#usedBy(name) - bytes
          if (left > 0 || this.#used.size <= kept) this.#used.set(name, left)
          else this.#used.delete(name)
        }
      },
    }
  }

  #admits({ name, bytes: own, part }: Sharer, bytes: number): boolean {
    return this.#usedBy(name) + bytes <= Math.max(own, part * (this.#room.left - bytes))
  }

  #usedBy(name: string): number {
    return this.#used.get(name) ?? 0
  }

  #sharers(principal: Principal | undefined, address: string): readonly Sharer[] {
    const { bytes, perNetwork, unauthenticated } = this.#limits
    if (!principal)
      return [
        { name: `network ${network(address)}`, bytes: perNetwork, part: 0 },
        { name: 'unauthenticated', bytes: unauthenticated, part: 0 },
      ]
    const { kind, id } = principal
    const owner = kind === 'member' ? id : principal.owner
    const own = { name: `${kind} ${id}`, bytes, part: 1 }
    return owner === undefined ? [own] : [own, { name: `owner ${owner}`, bytes, part: 3 }]
  }
}

/** The part of an address that stands for one household or machine: of IPv6 the first 64 bits. */
export function network(address: string): string {
  const [plain = ''] = address.replace(/^::ffff:(?=\d+\.)/i, '').split('%')
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const first = groups(head)
  const last = tail === undefined ? [] : groups(tail)
  // The last 32 bits may be written as an IPv4 address, which takes the place of two groups.
  const written = first.length + last.length + (plain.includes('.') ? 1 : 0)
  const all = tail === undefined ? first : [...first, ...Array<string>(8 - written).fill('0'), ...last]
  return all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}
