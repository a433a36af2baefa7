import type { Envelope, Json, Scope } from '../../engine/index.ts'
import { inOrder } from './rule.ts'
import type { Judgement, Rule } from './rule.ts'
import { TokenTable } from './token-table.ts'

/** What can follow from a judgement, from the weakest to the strongest. */
export const outcomes = ['passed', 'error', 'flagged', 'masked', 'retried', 'fallback', 'denied'] as const

export type OutcomeWord = (typeof outcomes)[number]

const sides = ['input', 'output'] as const

/** What is told of one guard on one side of an exchange. Never a text. */
interface Told {
  readonly rule: Rule
  readonly side: 'input' | 'output'
  outcome: OutcomeWord
  milliseconds: number
  hits: number
  windows: number
  category: string | undefined
  score: number | undefined
  reason: string | undefined
  error: string | undefined
  isCounted: boolean
}

/** A verdict for whoever counts them. */
export interface CountedVerdict {
  readonly guard: string
  readonly side: 'input' | 'output'
  readonly shadow: boolean
  readonly outcome: OutcomeWord
  readonly milliseconds: number
}

/** What the guards of one exchange have in common, from its first stage to its row. */
export class GuardedExchange {
  readonly #told: Told[] = []
  readonly #pending = new Set<Promise<unknown>>()
  readonly #scope: Scope
  readonly #count: (verdict: CountedVerdict) => void
  /** Of guards with a share of the requests, whether this is one of theirs. */
  readonly #drawn = new Map<Rule, boolean>()
  /** Further tries that guards have asked for. */
  readonly #retries = new Map<Rule, number>()
  /** Judgements that have not let the request pass. */
  #unpassed = 0
  /** Models whose guards have changed the request in a try of theirs. */
  readonly #changedFor = new Set<string>()
  /** Whether the guards of all requests have let it pass. */
  isThrough = false
  /** Models whose own guards have let it pass. */
  readonly #throughOf = new Set<string>()
  /** What the next try is told. */
  feedback = ''
  /** What tokens stand for in this exchange, and in the turns before it. */
  readonly tokens = new TokenTable()
  /** Whether figures have changed since they were written. */
  #isStale = false

  constructor(scope: Scope, count: (verdict: CountedVerdict) => void) {
    this.#scope = scope
    this.#count = count
  }

  /** Whether a guard judges this request: drawn once, for its answer, too. */
  has(rule: Rule): boolean {
    let isDrawn = this.#drawn.get(rule)
    if (isDrawn === undefined) this.#drawn.set(rule, (isDrawn = rule.isDrawn()))
    return isDrawn
  }

  /** Notes a judgement. The windows of one answer are one entry. */
  tell(rule: Rule, side: 'input' | 'output', judgement: Judgement, outcome: OutcomeWord, hits?: number): void {
    // Nobody wanted to know any more.
    if ('failed' in judgement && judgement.failed === 'left') {
      if (side === 'input' && !rule.isShadow) this.#unpassed += 1
      return
    }
    const known = this.#told.find((one) => one.rule === rule && one.side === side)
    const told = known ?? entryOf(rule, side)
    if (!known) {
      this.#told.push(told)
      // Those that judge beside each other end in any order.
      this.#told.sort(
        (one, other) => sides.indexOf(one.side) - sides.indexOf(other.side) || inOrder(one.rule, other.rule),
      )
    }
    const found = 'found' in judgement ? judgement.found : undefined
    told.windows += 1
    told.milliseconds += judgement.milliseconds
    if (found?.hit === true) told.hits += hits ?? Math.max(1, (found.spans ?? found.texts ?? []).length)
    const isNews = outcomes.indexOf(outcome) > outcomes.indexOf(told.outcome)
    if (isNews) told.outcome = outcome
    if (found?.category !== undefined) told.category = found.category
    if (found?.score !== undefined) told.score = Math.max(found.score, told.score ?? 0)
    if (found?.reason !== undefined) told.reason = found.reason
    if ('failed' in judgement) told.error = judgement.failed
    // A stream has many judgements, and most pass: what changes with each is written once, at the end.
    if (isNews || told.isCounted) this.#write()
    else this.#isStale = true
  }

  /**
   * Follows the judging of a request to its end.
   * @param model whose guards judge; undefined: those of all requests
   */
  async judging(given: Envelope, judged: Promise<Envelope>, model: string | undefined): Promise<Envelope> {
    this.#unpassed += 1
    const passed = await judged
    this.#unpassed -= 1
    if (model === undefined) this.isThrough = true
    else this.#throughOf.add(model)
    if (model !== undefined && passed !== given) this.#changedFor.add(model)
    return passed
  }

  /**
   * Whether the request, as it is at the end, has not passed all its guards as it is: what those of a model mask holds
   * for its own tries alone.
   * @param served the model that has answered
   */
  hides(served: string | undefined): boolean {
    return this.#unpassed > 0 || [...this.#changedFor].some((model) => model !== served)
  }

  /** Whether the own guards of a model have let it pass. */
  isThroughOf(model: string): boolean {
    return this.#throughOf.has(model)
  }

  /** Whether a guard may ask for another answer of the same model, which it then does. */
  retry(rule: Rule): boolean {
    const times = this.#retries.get(rule) ?? 0
    if (times >= rule.record.times) return false
    this.#retries.set(rule, times + 1)
    this.feedback = rule.record.feedback
    return true
  }

  /** Counts the verdicts, each once, when the exchange, or a try, has ended. */
  count(): void {
    if (this.#isStale) this.#write()
    for (const told of this.#told) {
      const { rule, side, outcome, milliseconds } = told
      if (!told.isCounted) this.#count({ guard: rule.name, side, shadow: rule.isShadow, outcome, milliseconds })
      told.isCounted = true
    }
  }

  /** Lets the row wait for a judgement that nobody else waits for. */
  wait(judging: Promise<unknown>): void {
    this.#pending.add(judging)
    void judging.finally(() => this.#pending.delete(judging))
  }

  /** Resolves when no judgement is out; undefined: none is. */
  judged(): Promise<unknown> | undefined {
    return this.#pending.size === 0 ? undefined : Promise.allSettled(this.#pending)
  }

  #write(): void {
    this.#isStale = false
    const live = this.#told.filter(({ rule }) => !rule.isShadow)
    const strongest = live.reduce<OutcomeWord>(
      (most, { outcome }) => (outcomes.indexOf(outcome) > outcomes.indexOf(most) ? outcome : most),
      'passed',
    )
    if (columnWords.has(strongest)) this.#scope.note('guarded', strongest)
    this.#scope.note('guards', this.#told.map(entryText))
    if (this.#scope.told)
      this.#scope.told.guards = this.#told.map(({ rule, side, outcome }) => ({
        name: rule.name,
        side,
        outcome,
        shadow: rule.isShadow,
      }))
    const named = new Map<string, OutcomeWord>()
    for (const { rule, outcome } of live.toSorted((one, other) => inOrder(one.rule, other.rule))) {
      const before = named.get(rule.name) ?? 'passed'
      if (outcomes.indexOf(outcome) > outcomes.indexOf(before)) named.set(rule.name, outcome)
    }
    if (named.size > 0)
      this.#scope.header('x-gateway-guards', [...named].map(([name, outcome]) => `${name}=${outcome}`).join(', '))
  }
}

const columnWords = new Set<OutcomeWord>(['denied', 'masked', 'flagged'])

function entryOf(rule: Rule, side: 'input' | 'output'): Told {
  const none = { category: undefined, score: undefined, reason: undefined, error: undefined }
  return { rule, side, outcome: 'passed', milliseconds: 0, hits: 0, windows: 0, isCounted: false, ...none }
}

function entryText({ rule, side, ...told }: Told): Json {
  const { outcome, hits, windows, category, score, reason, error } = told
  return {
    name: rule.name,
    kind: rule.kind,
    side,
    action: rule.action,
    outcome,
    shadow: rule.isShadow,
    milliseconds: Math.round(told.milliseconds * 1_000) / 1_000,
    hits,
    windows,
    ...(category === undefined ? {} : { category }),
    ...(score === undefined ? {} : { score }),
    ...(reason === undefined ? {} : { reason }),
    ...(error === undefined ? {} : { error }),
  }
}
