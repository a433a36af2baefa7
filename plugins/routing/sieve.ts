import { GatewayError } from '../../engine/index.ts'
import type { ErrorCode, ErrorOptions } from '../../engine/index.ts'
import type { GateCount, ShortlistEntry } from './shortlisted.ts'

/** A condition that a model must meet to serve a request. */
export interface Gate {
  readonly name: string
  /** Follows the number of models that meet it, such as `allowed`: one model, and several. */
  readonly words: readonly [one: string, several: string]
  /** The error if no model meets it. */
  readonly code: ErrorCode
  keeps(entry: ShortlistEntry): boolean
  /** The models to go on with if none meets it; absent, or none: the request is refused. */
  readonly otherwise?: (entries: readonly ShortlistEntry[]) => readonly ShortlistEntry[]
  /** What the error says beside the counts. */
  readonly hint?: () => string
  readonly options?: ErrorOptions
}

/** The models that are left after each gate, in order. */
export class Sieve {
  readonly #asked: string
  #entries: readonly ShortlistEntry[]
  readonly #counts: string[]
  readonly gates: GateCount[] = []
  readonly notes: string[] = []

  /** @param asked the virtual model */
  constructor(asked: string, entries: readonly ShortlistEntry[]) {
    this.#asked = asked
    this.#entries = entries
    this.#counts = [`${entries.length} eligible`]
  }

  get entries(): readonly ShortlistEntry[] {
    return this.#entries
  }

  /** Throws the error of the gate if it leaves no model. */
  pass(gate: Gate): void {
    const { name, words, code, otherwise, options } = gate
    const before = this.#entries
    const kept = before.filter((entry) => gate.keeps(entry))
    this.#counts.push(`${kept.length} ${kept.length === 1 ? words[0] : words[1]}`)
    const relaxed = kept.length === 0 ? (otherwise?.(before) ?? []) : []
    if (relaxed.length > 0) this.notes.push(`degraded=${name}`)
    this.#entries = kept.length > 0 ? kept : relaxed
    const left = this.#entries
    if (left.length === before.length) this.gates.push({ gate: name, left: left.length })
    else {
      const names = before.filter((entry) => !left.includes(entry)).map(({ model }) => model.name)
      this.gates.push({ gate: name, left: left.length, removed: names })
    }
    if (left.length > 0) return
    const hint = gate.hint?.() ?? ''
    const reason = `No model is left for "${this.#asked}": ${this.#counts.join(', ')}.${hint && ` ${hint}`}`
    throw new GatewayError(code, {}, { message: reason, param: 'model', ...options })
  }
}
