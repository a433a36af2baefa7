import { performance } from 'node:perf_hooks'
import type { Slots } from '../spec/slots.ts'
import type { CallFacts, TellingCall } from '../spec/call-facts.ts'
import type { ToldCall, ToldExchange } from '../spec/telling.ts'
import type { Cost, Metered } from '../spec/usage.ts'

/** A call of an exchange, about which stages tell facts. */
class Calling implements TellingCall {
  readonly message: ToldCall
  readonly began = performance.now()

  constructor(message: ToldCall) {
    this.message = message
  }

  get keeps(): boolean {
    return this.message.keeps === true
  }

  tell(facts: CallFacts): void {
    Object.assign(this.message, facts)
  }

  arrived(): void {
    const after = performance.now() - this.began
    this.message.firstContent ??= after
    this.message.lastContent = after
  }
}

/**
 * The calls of one exchange that somebody listens to. Their ends are told when it is over, because what they used and
 * cost is known only then.
 */
export class ExchangeCalls {
  readonly #calls: Calling[] = []
  readonly #ends: (() => void)[] = []
  /** The exchange, if it is told itself. */
  exchange: ToldExchange | undefined

  /** The one that began last. */
  get last(): TellingCall | undefined {
    return this.#calls.at(-1)
  }

  begin(message: ToldCall): void {
    this.#calls.push(new Calling(message))
  }

  /** Publishes an end when the exchange is over. */
  readonly later = (publish: () => void): void => void this.#ends.push(publish)

  /** Adds when the content of the stream came that was sent on, in milliseconds since a moment. */
  addContentTimes(exchange: { firstContent?: number; lastContent?: number }, started: number): void {
    const last = this.#calls.at(-1)
    const { firstContent, lastContent } = last?.message ?? {}
    if (last === undefined || firstContent === undefined || lastContent === undefined) return
    const before = last.began - started
    exchange.firstContent = before + firstContent
    exchange.lastContent = before + lastContent
  }

  /** The exchange is over. What was measured belongs to the last call: after an answer nothing is tried again. */
  end({ measurement, bill }: Partial<Slots>): void {
    const message = this.#calls.at(-1)?.message
    const metered = message && meteredIn(measurement)
    if (metered && !metered.unasked) {
      message.metered = metered
      if (bill) message.cost = this.#restOf(bill.cost)
    }
    for (const publish of this.#ends.splice(0)) publish()
  }

  /** What of a cost is left for the last call. */
  #restOf(cost: Cost): Cost {
    if (cost.micros === undefined) return cost
    const before = this.#calls.slice(0, -1).reduce((sum, { message }) => sum + (message.cost?.micros ?? 0), 0)
    return { ...cost, micros: Math.max(0, cost.micros - before) }
  }
}

/** What was used, without the words of a failure; undefined: it cannot be read, which others report. */
function meteredIn(measurement: Slots['measurement'] | undefined): Metered | undefined {
  try {
    if (measurement === undefined) return undefined
    const { complete: _, failure: __, losses: ___, ...metered } = measurement.read()
    return metered
  } catch {
    return undefined
  }
}
