import { channel } from 'node:diagnostics_channel'
import type { Channel } from 'node:diagnostics_channel'
import { asGatewayError } from '../spec/error.ts'
import type { Reply } from '../spec/slots.ts'
import type { Told, ToldEnd, ToldError, ToldReply } from '../spec/telling.ts'
import type { Diagnostic } from '../config/diagnostics.ts'

/** The three diagnostics channels of one kind. */
export class Channels<M extends ToldEnd> {
  readonly #start: Channel
  readonly #error: Channel
  readonly #end: Channel

  constructor(kind: keyof Told) {
    this.#start = channel(`sluice:${kind}:start`)
    this.#error = channel(`sluice:${kind}:error`)
    this.#end = channel(`sluice:${kind}:end`)
  }

  /** Whether there is a subscriber. A new subscriber receives only what begins after it subscribed. */
  get heard(): boolean {
    return this.#end.hasSubscribers || this.#start.hasSubscribers || this.#error.hasSubscribers
  }

  start(message: M): void {
    this.#start.publish(message)
  }

  end(message: M): void {
    if (message.error !== undefined) this.#error.publish(message)
    this.#end.publish(message)
  }

  /** Publishes the start. The returned function publishes the end, with an optional error and further fields. */
  begin(message: M): (error?: ToldError, known?: Partial<M>) => void {
    const started = performance.now()
    let over = false
    this.start(message)
    return (error, known) => {
      if (over) return
      over = true
      Object.assign(message, known)
      message.duration = performance.now() - started
      if (error !== undefined) message.error = error
      this.end(message)
    }
  }
}

const replies = channel('sluice:reply')

/** The reply of an exchange, as subscribers leave it. */
export function toldReply(scope: ToldReply['scope'], slots: ToldReply['slots'], reply: Reply): Reply {
  if (!replies.hasSubscribers) return reply
  const message: ToldReply = { scope, slots, reply }
  replies.publish(message)
  return message.reply
}

/** A thrown value as it may be published. */
export function toldError(thrown: unknown): ToldError {
  const { code, tags, at } = asGatewayError(thrown)
  return { code, tags, ...(at === undefined ? {} : { at }) }
}

export const exchanges = new Channels<Told['exchange']>('exchange')
export const stages = new Channels<Told['stage']>('stage')
export const attempts = new Channels<Told['attempt']>('attempt')
export const calls = new Channels<Told['call']>('call')
export const reloads = new Channels<Told['reload']>('reload')
export const sockets = new Channels<Told['socket']>('socket')

/** A loaded configuration with all its findings. */
interface Read {
  readonly version: string
  readonly findings: readonly Diagnostic[]
  /** Whether it went live. */
  readonly live: boolean
}

/** Loads a configuration, reports the load to listeners, and returns the findings. */
export async function tellReload(
  previous: string | undefined,
  read: () => Promise<Read>,
): Promise<readonly Diagnostic[]> {
  if (!reloads.heard) return (await read()).findings
  const over = reloads.begin(previous === undefined ? {} : { previous })
  try {
    const { version, findings, live } = await read()
    const refused = findings.length > 0
    const result = refused ? 'refused' : live ? 'live' : 'unchanged'
    over(refused ? { code: findings[0]?.code ?? '' } : undefined, { version, findings: findings.length, result })
    return findings
  } catch (thrown) {
    over(toldError(thrown))
    throw thrown
  }
}
