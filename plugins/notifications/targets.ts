import { createHash } from 'node:crypto'
import { lookup } from 'node:dns'
import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from 'undici'
import type { ServiceHost } from '../../engine/index.ts'
import { guardedLookup, isWithin, literalAddress } from '../../engine/kit.ts'
import { postOf } from './body.ts'
import type { Notice } from './cause.ts'
import type { Kept } from './kept.ts'
import type { Target } from './settings.ts'
import type { TargetsTable } from './table.ts'

/** Milliseconds that a target may take, and after which a post is tried again: ten minutes in all. */
const limit = 10_000
const again = [1_000, 10_000, 60_000, 180_000, 349_000]
/** A wait is shorter or longer by up to this share, so that what failed together does not come back together. */
const jitter = 0.08
/** Milliseconds after which a target that fails is told in health reports. */
const longFailing = 3_600_000
/** Milliseconds that a post has that is under way when the process stops. */
const leaving = 3_000
/** Most notices that wait for one target; beyond, the oldest is given up. */
const mostWaiting = 1_000

/** The time that posts go by. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after so many milliseconds; rejects when the signal is aborted. */
  pause(milliseconds: number, signal: AbortSignal): Promise<unknown>
}

const realClock: Clock = {
  now: () => Date.now(),
  pause: (milliseconds, signal) => pause(milliseconds, undefined, { signal, ref: false }),
}

/** How a post went. */
export interface Outcome {
  readonly delivered: boolean
  /** The status of the answer; null: there was none. */
  readonly status: number | null
  /** Why it was not delivered, without the address. */
  readonly problem: string | null
}

interface State {
  failingSince: number | null
  problem: string | null
}

type Reach = 'public' | 'private'

/** Posts notices to their targets: of one cause in their order, of several side by side. */
export class Targets {
  readonly #host: Pick<ServiceHost, 'log' | 'version'>
  readonly #kept: Pick<Kept, 'delivered' | 'tried'>
  readonly #states = new Map<string, State>()
  /** The last post of each cause to each target. */
  readonly #queues = new Map<string, Promise<void>>()
  /** What waits for each target, oldest first, and what gives it up. */
  readonly #waiting = new Map<string, Set<AbortController>>()
  /** Ends waits, so that nothing is begun any more; and ends what is under way. */
  readonly #stop = new AbortController()
  readonly #cut = new AbortController()
  #targets: readonly Target[] = []
  #address = ''
  #reach: Reach = 'public'
  #agent: Agent | undefined
  readonly #clock: Clock
  /** Whether this process tells them: the health of another one is not that of its targets. */
  #speaks = true

  constructor(host: Pick<ServiceHost, 'log' | 'version'>, kept: Pick<Kept, 'delivered' | 'tried'>, clock = realClock) {
    this.#host = host
    this.#kept = kept
    this.#clock = clock
  }

  /** Takes over how targets did for whoever told them before. Returns what is no more true of any. */
  restore(known: readonly TargetsTable[]): readonly TargetsTable[] {
    this.#speaks = true
    for (const { name, failing_since: failingSince, problem } of known.filter((one) => this.isOf(one)))
      if (!this.#states.has(name)) this.#states.set(name, { failingSince, problem })
    return known.filter((one) => !this.isOf(one))
  }

  /** Takes over that another process, which posted a test, has reached a target. */
  heard(known: readonly TargetsTable[]): void {
    for (const one of known) {
      const { failingSince = null } = this.#states.get(one.name) ?? {}
      const isBack = failingSince !== null && one.failing_since === null && one.tried_at >= failingSince
      if (isBack && this.isOf(one)) this.#states.set(one.name, { failingSince: null, problem: null })
    }
  }

  /**
   * How targets did is forgotten with their addresses.
   * @param address where clients reach the gateway
   * @param reach where posts may go: what the file declares may go to private networks
   * @returns the targets that are gone, or had another address
   */
  follow(targets: readonly Target[], address: string, reach: Reach): readonly Pick<TargetsTable, 'name' | 'address'>[] {
    const before = this.#targets.map(({ name, url }) => ({ name, address: digestOf(url) }))
    this.#targets = targets
    this.#address = address
    this.#reach = reach
    const gone = before.filter((one) => !this.isOf(one))
    for (const { name } of gone) this.#states.delete(name)
    return gone
  }

  /** Whether a target has this name and this address; one that is not known is any. */
  isOf({ name, address }: Pick<TargetsTable, 'name'> & { readonly address?: string | null }): boolean {
    const target = this.#find(name)
    return target !== undefined && (address ?? digestOf(target.url)) === digestOf(target.url)
  }

  /** Another process tells them from now on, and knows how they do. */
  forget(): void {
    this.#speaks = false
    this.#states.clear()
  }

  /** The names of the targets that are told of a cause. */
  namesFor({ cause }: Pick<Notice, 'cause'>): readonly string[] {
    return this.#targets
      .filter(({ causes }) => causes.some((name) => name === 'all' || name === cause))
      .map(({ name }) => name)
  }

  /** Whether a target was not reached when it was last told something. */
  get isFailing(): boolean {
    return [...this.#states.values()].some(({ failingSince }) => failingSince !== null)
  }

  /** The name of a target that has failed for long; undefined: none has. */
  get failing(): string | undefined {
    const border = this.#clock.now() - longFailing
    for (const [name, { failingSince }] of this.#states) if ((failingSince ?? Infinity) <= border) return name
    return undefined
  }

  /** Posts a notice, after those of the same cause before it. */
  queue(notice: Notice, name: string): void {
    this.#speaks = true
    const place = `${name} ${notice.key}`
    const waiting = this.#waiting.get(name) ?? new Set()
    this.#waiting.set(name, waiting)
    if (waiting.size >= mostWaiting) this.#giveUpOldest(waiting)
    const one = new AbortController()
    waiting.add(one)
    const before = this.#queues.get(place)
    const post = (before ?? Promise.resolve()).then(() => this.#deliver(notice, name, one.signal))
    const done = post.catch((error: unknown) => {
      if (!this.#stop.signal.aborted)
        this.#host.log.error({ err: error, target: name }, 'a notice could not be delivered')
    })
    const last = done.finally(() => {
      waiting.delete(one)
      if (waiting.size === 0 && this.#waiting.get(name) === waiting) this.#waiting.delete(name)
      if (this.#queues.get(place) === last) this.#queues.delete(place)
    })
    this.#queues.set(place, last)
  }

  #giveUpOldest(waiting: Set<AbortController>): void {
    for (const oldest of waiting) {
      waiting.delete(oldest)
      return oldest.abort()
    }
  }

  /** Posts a notice once. */
  async once(notice: Notice, target: Target): Promise<Outcome> {
    const outcome = await this.#post(notice, target)
    await this.#told(target, outcome)
    return outcome
  }

  async close(): Promise<void> {
    this.#stop.abort()
    // What has arrived is to be noted, so that nobody sends it again.
    const cut = setTimeout(() => this.#cut.abort(), leaving)
    await Promise.all(this.#queues.values())
    clearTimeout(cut)
    await this.#agent?.destroy()
  }

  #find(name: string): Target | undefined {
    return this.#targets.find((target) => target.name === name)
  }

  async #deliver(notice: Notice, name: string, givenUp: AbortSignal): Promise<void> {
    for (let attempts = 1; ; attempts++) {
      if (this.#stop.signal.aborted) return
      // Its settings may have changed meanwhile.
      const target = this.#find(name)
      if (!target || givenUp.aborted)
        return this.#note(notice, name, { attempts: attempts - 1, status: null, state: 'given_up' })
      const outcome = await this.#post(notice, target)
      if (this.#stop.signal.aborted && !outcome.delivered) return
      await this.#told(target, outcome)
      const { delivered, status } = outcome
      const wait = again[attempts - 1]
      const state = delivered ? 'delivered' : wait === undefined ? 'given_up' : 'waiting'
      await this.#note(notice, name, { attempts, status, state })
      if (state !== 'waiting' || wait === undefined) return
      const drawn = wait * (1 - jitter + 2 * jitter * Math.random())
      const signal = AbortSignal.any([this.#stop.signal, givenUp])
      await this.#clock.pause(drawn, signal).catch((error: unknown) => {
        if (!givenUp.aborted) throw error
      })
    }
  }

  async #post(notice: Notice, target: Target): Promise<Outcome> {
    try {
      const { request } = await import('undici')
      const url = new URL(target.url)
      const literal = literalAddress(url)
      if (literal !== undefined && !isWithin(this.#reach, literal))
        throw Object.assign(new Error(), { code: 'ERR_ADDRESS_NOT_ALLOWED' })
      const { body, headers } = postOf(notice, target, this.#address)
      const answer = await request(url, {
        method: 'POST',
        dispatcher: await this.#connections(),
        signal: AbortSignal.any([this.#cut.signal, AbortSignal.timeout(limit)]),
        headers: { ...headers, 'user-agent': `sluice/${this.#host.version}` },
        body,
      })
      const { statusCode: status } = answer
      answer.body.on('error', () => undefined).destroy()
      const delivered = status >= 200 && status < 300
      return { delivered, status, problem: delivered ? null : `it answered with status ${status}` }
    } catch (error) {
      return { delivered: false, status: null, problem: problemOf(error) }
    }
  }

  async #connections(): Promise<Agent> {
    const undici = await import('undici')
    return (this.#agent ??= new undici.Agent({
      connect: { lookup: (...asked) => guardedLookup(lookup, this.#reach)(...asked), timeout: limit },
      pipelining: 0,
      maxHeaderSize: 16 * 1024,
    }))
  }

  /** Notes how a target does. */
  async #told({ name, url }: Target, { delivered, problem }: Outcome): Promise<void> {
    const address = digestOf(url)
    // It got another address while it was tried.
    if (!this.isOf({ name, address })) return
    const before = this.#states.get(name)?.failingSince ?? null
    const now = this.#clock.now()
    const failingSince = delivered ? null : (before ?? now)
    if (this.#speaks) this.#states.set(name, { failingSince, problem })
    if (before === null && failingSince !== null)
      this.#host.log.warn({ target: name, problem }, 'a target of notifications cannot be reached')
    if (before !== null && failingSince === null)
      this.#host.log.info({ target: name }, 'a target of notifications is back')
    await this.#kept
      .tried({ name, address, failing_since: failingSince, tried_at: now, problem })
      .catch((error: unknown) => this.#host.log.debug({ err: error }, 'how a target does could not be kept'))
  }

  async #note(
    { message }: Notice,
    target: string,
    what: Pick<Parameters<Kept['delivered']>[0], 'attempts' | 'status' | 'state'>,
  ): Promise<void> {
    await this.#kept
      .delivered({ message, target, ...what })
      .catch((error: unknown) => this.#host.log.debug({ err: error }, 'a delivery could not be kept'))
  }
}

/** What an address is told by where it must not be read. */
function digestOf(address: string): string {
  return createHash('sha256').update(address).digest('base64url')
}

/** Why there was no answer: a code, because messages may quote the address. */
function problemOf(error: unknown): string {
  const { name, code } = error as { readonly name?: string; readonly code?: string }
  if (name === 'TimeoutError') return 'it did not answer in 10 seconds'
  return code === 'ERR_ADDRESS_NOT_ALLOWED'
    ? 'its address is not allowed'
    : `it cannot be reached (${code ?? name ?? 'unknown'})`
}
