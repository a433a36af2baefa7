import { performance } from 'node:perf_hooks'
import { LRUCache } from 'lru-cache'
import type { Candidate, End, ErrorCode } from '../../engine/index.ts'
import { Circuit } from './circuit.ts'
import type { CircuitRules, CircuitState } from './circuit.ts'

/** The last failure of a provider. */
export interface LastError {
  readonly code: string
  readonly status: number | null
  /** Milliseconds since 1970. */
  readonly at: number
}

/** What this process knows of one provider, or of one model at a provider. */
export interface Health {
  readonly provider: string
  /** Name of the model's record; null: all models of the provider. */
  readonly model: string | null
  readonly circuit: Circuit
  lastError: LastError | null
  /** Requests that are under way. */
  active: number
  /** Milliseconds until answers began lately, as a moving average, and when it was last measured. */
  latency: number | undefined
  measured: number
}

/** Maximum entries: names of models that match a pattern come from clients. */
const most = 1_000
/** Weight of the newest latency in the average. */
const newest = 0.2

/** The health of every provider that this process has used since its start. */
export class Healths {
  readonly #random: () => number
  readonly #turned: (provider: string, to: CircuitState) => void
  readonly #found = new LRUCache<string, Health>({ max: most })
  #isThere: (health: Health) => boolean = () => true

  /**
   * @param random draws a number from 0 to 1
   * @param turned hears of each change of a circuit
   */
  constructor(
    random: () => number = Math.random,
    turned: (provider: string, to: CircuitState) => void = () => undefined,
  ) {
    this.#random = random
    this.#turned = turned
  }

  /**
   * What is gone has none that others see: requests of an older configuration may still ask it.
   * @param perModel whether each model of a provider has a health of its own
   */
  of({ provider: { name: provider }, model: { name: model } }: Candidate, perModel: boolean): Health {
    const key = perModel ? `${provider}\n${model}` : provider
    let health = this.#found.get(key)
    if (health === undefined) {
      const circuit = new Circuit(this.#random, (to) => this.#turned(provider, to))
      health = {
        provider,
        model: perModel ? model : null,
        circuit,
        lastError: null,
        active: 0,
        latency: undefined,
        measured: 0,
      }
      if (this.#isThere(health)) this.#found.set(key, health)
    }
    return health
  }

  /** The providers, or the models at providers, that were used since the start. */
  all(perModel: boolean): readonly Health[] {
    return [...this.#found.values()].toReversed().filter(({ model }) => (model !== null) === perModel)
  }

  /** Forgets what nobody can ask any more, from now on: its circuit would never close. */
  keep(isThere: (health: Health) => boolean): void {
    this.#isThere = isThere
    const gone = [...this.#found.entries()].filter(([, health]) => !isThere(health))
    for (const [key] of gone) this.#found.delete(key)
  }

  /** Closes circuits: of one provider or all (null), of one model or all (null). */
  reset({ provider, model }: { readonly provider: string | null; readonly model: string | null }): void {
    for (const health of this.#found.values())
      if ((provider === null || health.provider === provider) && (model === null || health.model === model))
        health.circuit.reset()
  }
}

/** How the circuits of a configuration work. */
export interface BreakerRules extends CircuitRules {
  readonly enabled: boolean
  /** Whether each model of a provider has a circuit of its own. */
  readonly perModel: boolean
}

/** One call of a provider, from its admission to its end. */
export class Visit {
  readonly #health: Health
  readonly #rules: BreakerRules
  #isProbe: boolean
  /** How the rest of the answer ends says nothing about the provider. */
  #isJudged = false
  readonly #began = performance.now()

  constructor(health: Health, rules: BreakerRules, isProbe: boolean) {
    this.#health = health
    this.#rules = rules
    this.#isProbe = isProbe
    health.active++
  }

  /**
   * The answer has begun: a probe has succeeded, even if the answer takes long.
   * @param isJudged whether the call is a success from now on, however the answer ends
   */
  answered(isJudged = false): void {
    const health = this.#health
    const now = performance.now()
    const took = now - this.#began
    health.latency = health.latency === undefined ? took : health.latency + newest * (took - health.latency)
    health.measured = now
    this.#isJudged = isJudged
    if (!this.#rules.enabled || !(this.#isProbe || isJudged)) return
    health.circuit.succeeded(this.#began, now, this.#rules)
    // The circuit may open again and have another probe before this answer ends.
    this.#isProbe = false
  }

  /** The call and its whole answer are over. */
  ended(error: Failed | undefined): void {
    const health = this.#health
    health.active--
    if (!this.#rules.enabled || this.#isJudged) return
    const verdict = verdictOf(error)
    const now = performance.now()
    if (verdict === 'none') {
      if (this.#isProbe) health.circuit.released()
    } else if (verdict === 'success') health.circuit.succeeded(this.#began, now, this.#rules)
    else {
      if (error) health.lastError = { code: error.code, status: statusIn(error.tags), at: Date.now() }
      health.circuit.failed(this.#isProbe, now, this.#rules)
    }
  }
}

/** How a call ended, as `settle` tells it. */
type Failed = NonNullable<End['error']>

/** Codes of the gateway's own failures, for which no provider is responsible. */
const own: ReadonlySet<string> = new Set<ErrorCode>([
  'breaker_open',
  'cancelled',
  'client_closed',
  'draining',
  'internal_error',
  'store_unavailable',
  'unsupported',
])

/**
 * What the end of a call says about the provider. Only timeouts, failed connections, 5xx and broken answers are
 * failures. A 4xx shows that it works.
 */
function verdictOf(error: Failed | undefined): 'success' | 'failure' | 'none' {
  if (error === undefined) return 'success'
  const { code, tags } = error
  const status = statusIn(tags)
  // The gateway's own lack of memory has this code, too.
  if (own.has(code) || (code === 'overloaded' && status !== 529)) return 'none'
  if (status !== null && status >= 400 && status < 500) return code === 'upstream_timeout' ? 'failure' : 'success'
  const isFailure = status !== null || code.startsWith('upstream_') || tags.some((tag) => transport.has(tag))
  return isFailure ? 'failure' : 'none'
}

/** Tags of failures without a status. */
const transport: ReadonlySet<string> = new Set(['connect', 'timeout', 'invalid'])

function statusIn(tags: readonly string[]): number | null {
  const status = tags.find((tag) => /^\d{3}$/.test(tag))
  return status === undefined ? null : Number(status)
}
