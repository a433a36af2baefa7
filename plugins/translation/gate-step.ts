import { byteBudgetSpent, eventTooLarge, isObject, watchSilence } from '../../engine/kit.ts'
import { GatewayError } from '../../engine/index.ts'
import type { Gate, GenerateEvent, HeldEvents, Usage } from '../../engine/index.ts'
import type { Beat, EventRoom } from '../../engine/kit.ts'
import { EventRules } from './event-rules.ts'
import { GateWindow } from './gate-window.ts'

/** Bytes that a gate holds before what it reads from is paused. */
const most = 256 * 1024

/** Bytes of the largest answer that is judged as a whole: those of one that comes in one body. */
const mostOfAnswer = 64 * 1024 * 1024

/** Milliseconds of the longest window that a timer ends. */
const longest = 24 * 3_600_000

/** What a gate needs of the answer that it judges. */
export interface GatePlace {
  /** Whether all of the answer is one window. */
  readonly isWhole: boolean
  /** Whether more may have come in the same read. */
  readonly isReading: boolean
  readonly signal: AbortSignal
  /** Its limit is that of a single call of a tool. */
  readonly room: EventRoom
  usage(): Usage | undefined
  /** Takes what `release` gives at a later time, once the step has ended a judgement or its time is over. */
  later(release: (given: GenerateEvent[]) => void, step: GateStep): void
}

/** One gate of an answer. Events wait in its window, then while the window is judged; those behind it wait, too. */
export class GateStep {
  /** The stage that added it. */
  readonly at: string | undefined
  /** Whether the reply waits for its first verdict. */
  readonly isFirst: boolean
  readonly #gate: Gate
  readonly #place: GatePlace
  readonly #window: GateWindow
  readonly #rules = new EventRules()
  /** Events of calls that are not whole, by item. */
  readonly #calls = new Map<number, GenerateEvent[]>()
  #behind: GenerateEvent[] = []
  #beat: Beat | undefined
  /** Bytes of all held events, those of them that the byte budget counts, and those in the window. */
  #bytes = 0
  #counted = 0
  #inWindow = 0
  /** Whether the byte budget has no room for more. */
  #isSpent = false
  #isClosed = false
  /** Whether what came during a judgement is taken. */
  #isCatchingUp = false
  isJudging = false
  hasJudged = false
  /** It has given its last event. */
  ended = false

  constructor(gate: Gate, { at, before }: { readonly at?: string; readonly before?: 'reply' }, place: GatePlace) {
    this.at = at
    this.isFirst = before === 'reply'
    this.#gate = gate
    this.#place = place
    this.#window = new GateWindow(gate.overlap ?? 0)
  }

  /** Whether no further events should be read while it judges. */
  get isFull(): boolean {
    return this.isJudging && (this.#isSpent || this.#bytes >= most)
  }

  /** Takes an event; what may pass now is added to `given`. */
  pass(event: GenerateEvent, given: GenerateEvent[]): void {
    if (this.ended || this.#isClosed) return
    this.#isClosed = isLast(event)
    if (!this.#place.isWhole) this.#keep(this.#bytes + sizeOf(event))
    if (this.isJudging) this.#behind.push(event)
    else this.#hold(event, given)
  }

  /** Whether it has a window that ends when nothing more comes at once. */
  get settles(): boolean {
    return this.#gate.together === true && !this.ended && !this.isJudging && !this.#window.isEmpty
  }

  /** Nothing more comes at once. */
  settle(given: GenerateEvent[]): void {
    if (this.settles) this.#judge(given)
  }

  /** Nobody waits for its judgement any more. */
  end(): void {
    this.ended = true
    this.#beat?.stop()
    this.#behind = []
    this.#calls.clear()
    this.#keep(0)
  }

  #keep(bytes: number): void {
    this.#bytes = bytes
    this.#isSpent = this.#place.room.hold?.take(bytes - this.#counted) === false
    if (!this.#isSpent) this.#counted = bytes
  }

  #hold(event: GenerateEvent, given: GenerateEvent[]): void {
    const before = this.#window.isEmpty
    this.#sort(event)
    if (this.#isDue(event)) return this.#judge(given)
    if (!before || this.#window.isEmpty || this.#place.isWhole) return
    const { time } = this.#gate.window
    if (time > longest) return
    this.#beat = watchSilence(`${Math.ceil(time)}ms`, () => this.#place.later((given) => this.#judge(given), this))
  }

  /** Puts an event into the window, or aside while its call is not whole. */
  #sort(event: GenerateEvent): void {
    if (this.#gate.calls !== true) return this.#add(event)
    const call = 'index' in event ? this.#calls.get(event.index) : undefined
    if (call) call.push(event)
    else if (event.type === 'item' && event.item.type === 'call') this.#calls.set(event.index, [event])
    else {
      // What has no end when the answer has one is whole; a call that broke off is not shown.
      if (event.type === 'finish') for (const index of this.#calls.keys()) this.#complete(index)
      return this.#add(event)
    }
    if (event.type === 'item-end') this.#complete(event.index)
  }

  #complete(index: number): void {
    for (const event of this.#calls.get(index) ?? []) this.#add(event)
    this.#calls.delete(index)
  }

  #add(event: GenerateEvent): void {
    this.#window.add(event)
    if (!this.#place.isWhole) this.#inWindow += sizeOf(event)
  }

  #isDue(event: GenerateEvent): boolean {
    if (isLast(event)) return true
    // Nobody waits for single windows any more.
    if (this.#place.isWhole || this.#place.signal.aborted) return false
    const { characters, time } = this.#gate.window
    const wantsAll = characters === Infinity && time === Infinity
    if (wantsAll || this.#window.isEmpty) {
      if (this.#isSpent) throw byteBudgetSpent()
      const { room } = this.#place
      if (wantsAll && this.#bytes > mostOfAnswer) throw answerTooLarge()
      if (!wantsAll && this.#bytes > room.limit) throw eventTooLarge(room)
      return false
    }
    if (this.#isSpent || this.#bytes >= most) return true
    if (this.#gate.together === true && (this.#place.isReading || this.#isCatchingUp)) return isBetweenTexts(event)
    return this.#window.characters >= characters || time === 0
  }

  #judge(given: GenerateEvent[]): void {
    this.#beat?.stop()
    this.#beat = undefined
    const held = this.#window.close()
    const bytes = this.#inWindow
    this.#inWindow = 0
    const verdict: unknown = this.#gate.judge(held, this.#place.signal)
    if (!isThenable(verdict)) return this.#judged(held, bytes, verdict, given)
    this.isJudging = true
    Promise.resolve(verdict).then(
      (late) => this.#over((given) => this.#judged(held, bytes, late, given)),
      (error: unknown) =>
        this.#over(() => {
          throw error
        }),
    )
  }

  /** A judgement that was waited for is over: what came behind it is next. */
  #over(give: (given: GenerateEvent[]) => void): void {
    this.isJudging = false
    if (this.ended) return
    this.#place.later((given) => {
      give(given)
      const behind = this.#behind
      let taken = 0
      this.#isCatchingUp = true
      while (!this.ended && !this.isJudging && taken < behind.length) {
        this.#hold(behind[taken] as GenerateEvent, given)
        taken += 1
      }
      this.#isCatchingUp = false
      this.#behind = behind.slice(taken)
      this.settle(given)
    }, this)
  }

  #judged(held: HeldEvents, bytes: number, verdict: unknown, given: GenerateEvent[]): void {
    this.hasJudged = true
    this.#keep(this.#bytes - bytes)
    if (verdict === 'pass') {
      for (const event of held.events) this.#give(event, given)
      return
    }
    if (isObject(verdict)) {
      const { replace, stop, fail } = verdict as { replace?: unknown; stop?: unknown; fail?: unknown }
      if (Array.isArray(replace)) return this.#replace(held, replace, given)
      if (isObject(stop)) return this.#stop(held, stop as unknown as GenerateEvent, given)
      if (fail instanceof GatewayError) throw fail
    }
    throw new Error('a gate gave no verdict')
  }

  #replace({ events, final }: HeldEvents, others: readonly GenerateEvent[], given: GenerateEvent[]): void {
    for (const event of others) {
      this.#rules.check(event)
      given.push(this.#withUsage(event))
      if (isLast(event)) return this.end()
    }
    if (final) this.#give(events.at(-1) as GenerateEvent, given)
  }

  #stop({ events }: HeldEvents, stop: GenerateEvent, given: GenerateEvent[]): void {
    this.#rules.check(stop)
    if (!isLast(stop)) throw new Error(`a gate cannot stop with an event "${stop.type}"`)
    // It tells no text, and clients rely on it.
    for (const event of events) if (event.type === 'start') given.push(event)
    for (const index of this.#rules.open) given.push({ type: 'item-end', index })
    given.push(this.#withUsage(stop))
    this.end()
  }

  /** An end that a gate gives tells what was used, as the row does. */
  #withUsage(event: GenerateEvent): GenerateEvent {
    if (event.type !== 'finish' || event.usage) return event
    const usage = this.#place.usage()
    return usage ? { ...event, usage } : event
  }

  #give(event: GenerateEvent, given: GenerateEvent[]): void {
    this.#rules.see(event)
    given.push(event)
    if (isLast(event)) this.end()
  }
}

export function isLast({ type }: GenerateEvent): boolean {
  return type === 'finish' || type === 'failure'
}

/** What a text was judged as has to be known before the next one begins, which may go it on. */
function isBetweenTexts({ type }: GenerateEvent): boolean {
  return type === 'item' || type === 'part' || type === 'item-end'
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | undefined)?.then === 'function'
}

function answerTooLarge(): GatewayError {
  const reason = `an answer that is judged as a whole is larger than ${mostOfAnswer} bytes`
  return new GatewayError('upstream_invalid_response', { reason }, { tags: ['invalid'], retry: 'other' })
}

/** About the bytes that an event takes. */
function sizeOf(event: GenerateEvent): number {
  const isText = event.type === 'delta' && event.logprobs === undefined && typeof event.text === 'string'
  return 64 + Buffer.byteLength(isText ? event.text : JSON.stringify(event))
}
