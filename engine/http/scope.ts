// The global `performance` is a getter, which is slower.
import { performance } from 'node:perf_hooks'
import { randomUUIDv7 } from 'node:crypto'
import type { Json } from '../spec/json.ts'
import type { ExchangeFacts, TellingCall } from '../spec/call-facts.ts'
import type { Lap, StagePlace, Timing, TraceContext } from '../spec/scope.ts'
import type { ExchangeCalls } from '../telling/exchange-calls.ts'
import type { RunScope } from '../pipeline/step.ts'
import type { Settlement } from '../pipeline/settlement.ts'

interface Listener {
  readonly listener: (reason: Error) => void
  /** How many stages had ended when the listener was added. */
  readonly lap: number
}

const noNotes: ReadonlyMap<string, Json> = new Map()
const none: readonly never[] = []

/** The scope of one exchange. The server and `attempt` advance it; stages only see `Scope`. */
export class ExchangeScope implements RunScope {
  readonly id: string
  readonly parent: string | undefined
  #trace: TraceContext | undefined
  readonly started = performance.now()
  attempt = 1
  tries: RunScope['tries']
  #notes: Map<string, Json> | undefined
  /** Headers that stages add to the answer, by lower-case name. */
  headers: Record<string, string> | undefined
  #times: { name: string; milliseconds: number }[] | undefined
  /** When the last stage ended. */
  #mark = this.started
  readonly #laps: Lap[] = []
  #listeners: Listener[] | undefined
  #holders: (() => void)[] | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined
  deadline = Infinity
  /** Set while somebody listens. */
  calls: ExchangeCalls | undefined
  settlement: Settlement | undefined
  /** Milliseconds for which the stage clock was paused, and since when it is paused now. */
  #stood = 0
  #standing: number | undefined

  constructor(id: string = randomUUIDv7(), parent?: string) {
    this.id = id
    this.parent = parent
  }

  /** As subscribers have left it: the span of a message that is read late is known late. */
  get trace(): TraceContext | undefined {
    return this.calls?.exchange ? this.calls.exchange.trace : this.#trace
  }

  set trace(trace: TraceContext | undefined) {
    this.#trace = trace
  }

  get call(): TellingCall | undefined {
    return this.calls?.last
  }

  get told(): ExchangeFacts | undefined {
    return this.calls?.exchange
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  get reason(): Error | undefined {
    return this.#reason
  }

  onAbort(listener: (reason: Error) => void): () => void {
    if (this.#reason) {
      listener(this.#reason)
      return () => undefined
    }
    const entry = { listener, lap: this.#laps.length }
    // V8 gives a list that grows from nothing room for 17 elements.
    const listeners = (this.#listeners ??= [entry])
    if (listeners[0] !== entry) listeners.push(entry)
    return () => {
      const index = listeners.indexOf(entry)
      if (index >= 0) listeners.splice(index, 1)
    }
  }

  /** Aborts the exchange; only the first reason counts. */
  abort(reason: Error): void {
    if (this.#reason) return
    this.#reason = reason
    // Newest first, as what came later uses what came before; a listener may remove another one.
    const listeners = this.#listeners ?? []
    while (listeners.length > 0) listeners.pop()?.listener(reason)
    this.#controller?.abort(reason)
  }

  giveUp(reason: Error): void {
    const listeners = this.#listeners ?? []
    const own = listeners.filter(({ lap }) => lap === this.#laps.length)
    for (const entry of own) {
      const index = listeners.indexOf(entry)
      if (index < 0) continue
      listeners.splice(index, 1)
      entry.listener(reason)
    }
    // A signal that is requested later has its own controller, which is not aborted.
    this.#controller?.abort(reason)
    this.#controller = undefined
  }

  clock(now = performance.now()): number {
    return (this.#standing ?? now) - this.#stood
  }

  /** Pauses the stage clock during `work`, whose duration the stages cannot influence. */
  standStill<T>(work: Promise<T>): Promise<T> {
    this.stand()
    const go = () => this.go()
    work.then(go, go)
    return work
  }

  /** Pauses the stage clock until `go`. */
  stand(): void {
    this.#standing ??= performance.now()
  }

  go(): void {
    if (this.#standing === undefined) return
    this.#stood += performance.now() - this.#standing
    this.#standing = undefined
  }

  onEnd(listener: () => void): void {
    if (this.#holders) this.#holders.push(listener)
    else this.#holders = [listener]
  }

  /**
   * The exchange has ended: everything was sent, or the client disconnected.
   * @param failed called with the error of a listener that throws; the other listeners still run
   */
  end(failed: (error: unknown) => void): void {
    const holders = this.#holders
    if (holders === undefined) return
    this.#holders = undefined
    for (const release of holders)
      try {
        release()
      } catch (error) {
        failed(error)
      }
  }

  elapsed(): number {
    return performance.now() - this.started
  }

  note(key: string, value: Json): void {
    this.#notes ??= new Map()
    this.#notes.set(key, value)
  }

  get notes(): ReadonlyMap<string, Json> {
    return this.#notes ?? noNotes
  }

  header(name: string, value: string): void {
    this.headers ??= {}
    this.headers[name] = value
  }

  time(name: string, milliseconds: number): void {
    // There are about ten entries, so a linear search is fast enough.
    const known = this.#times?.find((timing) => timing.name === name)
    if (known) known.milliseconds += milliseconds
    else if (this.#times) this.#times.push({ name, milliseconds })
    else this.#times = [{ name, milliseconds }]
  }

  begin(): void {
    this.#mark = performance.now()
  }

  lap(stage: StagePlace, outcome: Lap['outcome']): void {
    const now = performance.now()
    const milliseconds = now - this.#mark
    const at = this.#mark - this.started
    this.#laps.push(
      stage.inTry ? { stage, at, milliseconds, attempt: this.attempt, outcome } : { stage, at, milliseconds, outcome },
    )
    this.#mark = now
  }

  get laps(): readonly Lap[] {
    return this.#laps
  }

  get times(): readonly Timing[] {
    return this.#times ?? none
  }
}
