import { randomUUIDv7 } from 'node:crypto'
import type { Json } from '../spec/json.ts'
import type { Scope } from '../spec/stage.ts'

/** The scope of one exchange; the server and `attempt` move it on, stages only see `Scope`. */
export class ExchangeScope implements Scope {
  readonly id: string
  readonly started = performance.now()
  attempt = 1
  #notes: Map<string, Json> | undefined
  #times: Map<string, number> | undefined
  #listeners: Set<(reason: Error) => void> | undefined
  #holders: (() => void)[] | undefined
  #controller: AbortController | undefined
  #reason: Error | undefined

  constructor(id: string = randomUUIDv7()) {
    this.id = id
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
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
    return () => this.#listeners?.delete(listener)
  }

  /** Ends the exchange early; only the first reason counts. */
  abort(reason: Error): void {
    if (this.#reason) return
    this.#reason = reason
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    for (const listener of listeners) listener(reason)
    this.#controller?.abort(reason)
  }

  onEnd(listener: () => void): void {
    this.#holders ??= []
    this.#holders.push(listener)
  }

  /** Everything has been sent, or nobody is there any more. */
  end(): void {
    const holders = this.#holders ?? []
    this.#holders = undefined
    for (const release of holders) release()
  }

  elapsed(): number {
    return performance.now() - this.started
  }

  note(key: string, value: Json): void {
    this.#notes ??= new Map()
    this.#notes.set(key, value)
  }

  get notes(): ReadonlyMap<string, Json> {
    return (this.#notes ??= new Map())
  }

  time(name: string, milliseconds: number): void {
    this.#times ??= new Map()
    this.#times.set(name, (this.#times.get(name) ?? 0) + milliseconds)
  }

  get times(): ReadonlyMap<string, number> {
    return (this.#times ??= new Map())
  }
}
