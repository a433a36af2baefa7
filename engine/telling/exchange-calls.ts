import { performance } from 'node:perf_hooks'
import type { Slots } from '../spec/slots.ts'
import type { CallFacts, TellingCall } from '../spec/call-facts.ts'
import type { ToldCall, ToldError, ToldExchange } from '../spec/telling.ts'
import type { Cost, Metered } from '../spec/usage.ts'
import { calls } from './channels.ts'

/** A call of a provider that somebody listens to. A single object, because there is one per request. */
export class CallUnderWay implements TellingCall {
  readonly message: ToldCall
  readonly began = performance.now()
  readonly #among: ExchangeCalls | undefined
  #isOver = false

  /** @param among the calls of its exchange, which publish its end */
  constructor(message: ToldCall, among: ExchangeCalls | undefined) {
    this.message = message
    message.began = this.began
    this.#among = among
    among?.add(this)
    calls.start(message)
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

  /** It has ended, or failed; only the first end counts. */
  over(error?: ToldError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.message.duration = performance.now() - this.began
    if (error !== undefined) this.message.error = error
    if (this.#among === undefined || this.#among.isOver) calls.end(this.message)
  }

  /** Its answer is not read to the end. */
  cancel(): void {
    if (!this.#isOver) this.message.cancelled = true
    this.over()
  }
}

/**
 * The calls of one exchange that somebody listens to. Their ends are told when it is over, because what they used and
 * cost is known only then.
 */
export class ExchangeCalls {
  /** Nearly always one: V8 gives a list that grows from nothing room for 17 elements. */
  #calls: CallUnderWay[] | undefined
  /** Whether the exchange is over. */
  isOver = false
  /** The exchange, if it is told itself. */
  exchange: ToldExchange | undefined

  /** The one that began last. */
  get last(): CallUnderWay | undefined {
    return this.#calls?.at(-1)
  }

  add(call: CallUnderWay): void {
    if (this.#calls) this.#calls.push(call)
    else this.#calls = [call]
  }

  /** Adds when the content of the stream came that was sent on, in milliseconds since a moment. */
  addContentTimes(exchange: { firstContent?: number; lastContent?: number }, started: number): void {
    const { last } = this
    if (last?.message.firstContent === undefined || last.message.lastContent === undefined) return
    const before = last.began - started
    exchange.firstContent = before + last.message.firstContent
    exchange.lastContent = before + last.message.lastContent
  }

  /** The exchange is over. What was measured belongs to the last call: after an answer nothing is tried again. */
  end({ measurement, bill }: Partial<Slots>): void {
    if (this.isOver) return
    this.isOver = true
    if (this.#calls === undefined) return
    const message = this.last?.message
    const read = message && readIn(measurement)
    // An answer that ended with an error, which came after its status.
    if (message && read?.failure !== undefined) message.error ??= { code: 'upstream_error' }
    const metered = read && meteredIn(read)
    if (metered && !metered.unasked) {
      message.metered = metered
      if (bill) message.cost = this.#restOf(bill.cost, this.#calls)
    }
    for (const call of this.#calls) if (call.message.duration !== undefined) calls.end(call.message)
  }

  /** What of a cost is left for the last call. */
  #restOf(cost: Cost, all: readonly CallUnderWay[]): Cost {
    if (cost.micros === undefined || all.length === 1) return cost
    const before = all.slice(0, -1).reduce((sum, { message }) => sum + (message.cost?.micros ?? 0), 0)
    return { ...cost, micros: Math.max(0, cost.micros - before) }
  }
}

type Read = ReturnType<Slots['measurement']['read']>

/** Undefined: it cannot be read, which others report. */
function readIn(measurement: Slots['measurement'] | undefined): Read | undefined {
  try {
    return measurement?.read()
  } catch {
    return undefined
  }
}

/** What was used, without the words of a failure. */
function meteredIn(read: Read): Metered {
  if (read.failure === undefined && read.losses.length === 0) return read
  const { complete: _, failure: __, losses: ___, ...metered } = read
  return metered
}
