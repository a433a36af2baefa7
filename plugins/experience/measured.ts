import type { Tier } from '../../engine/index.ts'
import { LRUCache } from 'lru-cache'

/** Models that are remembered; a catalog rarely has as many. Then API keys, and models of keys with one prompt. */
const most = { models: 500, keys: 10_000, alone: 1_000 }
/** Newest values that count: of all, and of one API key. Of a conversation one counts, and of an ask of a key. */
const newest = { all: 50, key: 10 }
/** Milliseconds after which a try says nothing about reliability. */
const tryCounts = 600_000
/** Answers before which their usual length is unknown. */
const enough = 5
/** What reliability is before anything was tried, and how many tries this counts as. */
const usual = { reliability: 0.98, tries: 5 }

/** How a model did lately, as far as this process saw it. */
export interface Outcomes {
  /** Share of tries that were answered, from 0 to 1. */
  readonly reliability: number
  /** Median of milliseconds until the first byte; null: unknown. */
  readonly firstByte: number | null
  /** The same for the slowest 5 %. */
  readonly slowFirstByte: number | null
  /** Median of output tokens in this tier, reasoning included; null: unknown. */
  readonly output: number | null
  /** Input tokens that were counted, per token that was estimated; from 0.5 to 2. */
  readonly inputRatio: number
  /** Share of the input that is read from a cache, and that is written to it. */
  readonly cacheReads: number
  readonly cacheWrites: number
}

/** Whom a value comes from. */
export interface Origin {
  /** Id of the API key; null: it was none. */
  readonly key: string | null
  /** Id of the conversation; null: there is none. */
  readonly conversation: string | null
  /** Hash of what was asked; null: nothing was, in words. */
  readonly ask: string | null
}

/** What an answer taught. Whatever is unknown is null. */
export interface MeasuredAnswer {
  readonly model: string
  readonly tier: Tier
  /** Milliseconds. */
  readonly firstByte: number | null
  /** Tokens, reasoning included. */
  readonly output: number | null
  /** Input tokens: all of them as they were estimated and counted, and those of a cache. */
  readonly input: {
    readonly estimated: number
    readonly counted: number
    readonly cacheRead: number
    readonly cacheWrite: number
  } | null
}

/** What is known of a model for everybody, and the hour since 1970 in which that began. */
interface Shared {
  readonly model: Model
  readonly since: number
}

/**
 * Measures models, in memory: other processes measure for themselves. What an API key shows counts for everybody once it
 * has asked a second thing. Until then it may be one prompt that is repeated for ever, and counts for that key where
 * nothing else is known. Without its origin, a value counts for everybody.
 */
export class Measurements {
  readonly #shared = new LRUCache<string, Shared>({ max: most.models })
  readonly #alone = new LRUCache<string, Model>({ max: most.alone })
  /** What each key has asked first; null: it has asked something else, too. */
  readonly #first = new LRUCache<string, { readonly ask: string | null }>({ max: most.keys })

  tried(model: string, isAnswered: boolean, now = Date.now(), from?: Origin): void {
    this.#of(model, now, from).tries.add({ at: now, isAnswered }, from)
  }

  answered({ model, tier, firstByte, output, input }: MeasuredAnswer, now = Date.now(), from?: Origin): void {
    const known = this.#of(model, now, from)
    known.keepHour(now)
    known.changes()
    if (firstByte !== null) known.firstBytes.add(firstByte, from)
    if (output !== null) known.outputs[tier].add(output, from)
    if (input === null || input.counted <= 0) return
    if (input.estimated > 0) known.ratios.add(Math.min(2, Math.max(0.5, input.counted / input.estimated)), from)
    known.reads.add(input.cacheRead / input.counted, from)
    known.writes.add(input.cacheWrite / input.counted, from)
  }

  /** How a model does now, for the decisions of a key; absent: for nobody's. */
  now(model: string, tier: Tier, now = Date.now(), key?: string | null): Outcomes {
    const known = this.#shared.get(model)?.model ?? this.#aloneOf(model, key)
    return known?.outcomes(tier, known.values(tier), now) ?? untried
  }

  /** The same, but all except reliability as it was at the last full hour. */
  hour(model: string, tier: Tier, now = Date.now(), key?: string | null): Outcomes {
    const shared = this.#shared.get(model)
    const alone = this.#aloneOf(model, key)
    // What has become known to all within the hour is not known yet.
    const known = shared !== undefined && shared.since < hourOf(now) ? shared.model : alone
    const values = known?.valuesOfHour(tier, now) ?? unknown
    return (shared?.model ?? alone)?.outcomes(tier, values, now) ?? untried
  }

  /** Forgets one model, or all (undefined). */
  forget(model: string | undefined): void {
    if (model === undefined) this.#shared.clear()
    else this.#shared.delete(model)
    for (const [name, { of }] of this.#alone.entries())
      if (model === undefined || of === model) this.#alone.delete(name)
  }

  /** Where a value is to be added. */
  #of(name: string, now: number, from: Origin | undefined): Model {
    if (from !== undefined && !this.#hasAskedMore(from)) {
      const own = aloneKey(name, from.key)
      let alone = this.#alone.get(own)
      if (alone === undefined) this.#alone.set(own, (alone = new Model(name)))
      return alone
    }
    let shared = this.#shared.get(name)
    if (shared === undefined) {
      // What is known of the first key is not lost when it asks a second thing.
      const model = (from && this.#alone.get(aloneKey(name, from.key))) ?? new Model(name)
      this.#shared.set(name, (shared = { model, since: hourOf(now) }))
    }
    return shared.model
  }

  /** What a key with a single prompt has shown of a model; of any key if none is given. */
  #aloneOf(name: string, key: string | null | undefined): Model | undefined {
    if (key !== undefined) return this.#alone.get(aloneKey(name, key))
    return this.#alone.values().find(({ of }) => of === name)
  }

  #hasAskedMore({ key, ask }: Origin): boolean {
    // Whatever has no words is one ask: what it shows is not known, so it may be the same each time.
    const asked = ask ?? ''
    const first = this.#first.get(String(key))
    if (first === undefined) this.#first.set(String(key), { ask: asked })
    else if (first.ask !== null && first.ask !== asked) this.#first.set(String(key), { ask: null })
    return first !== undefined && first.ask !== asked
  }
}

function aloneKey(model: string, key: string | null): string {
  return `${key} ${model}`
}

function reliabilityOf(tries: readonly Try[], now: number): number {
  let counting = 0
  let answered = 0
  for (const { at, isAnswered } of tries) {
    if (at <= now - tryCounts) continue
    counting += 1
    if (isAnswered) answered += 1
  }
  return (answered + usual.tries * usual.reliability) / (counting + usual.tries)
}

/** What answers have shown of a model. */
type Values = Omit<Outcomes, 'reliability'>

const unknown: Values = {
  firstByte: null,
  slowFirstByte: null,
  output: null,
  inputRatio: 1,
  cacheReads: 0,
  cacheWrites: 0,
}

const untried: Outcomes = { reliability: reliabilityOf([], 0), ...unknown }

interface Try {
  readonly at: number
  readonly isAnswered: boolean
}

class Model {
  /** Its name. */
  readonly of: string
  readonly tries = new Newest<Try>()
  readonly firstBytes = new Figures()
  readonly outputs: Readonly<Record<Tier, Figures>> = {
    SIMPLE: new Figures(),
    MEDIUM: new Figures(),
    COMPLEX: new Figures(),
  }
  readonly ratios = new Figures()
  readonly reads = new Figures()
  readonly writes = new Figures()
  /** The hour of the newest answer, since 1970, and what was known when that hour began. */
  #hour = 0
  #ofHour: Readonly<Record<Tier, Values>> = { SIMPLE: unknown, MEDIUM: unknown, COMPLEX: unknown }
  /** Undefined: since the last answer, nobody has asked. */
  readonly #values: Record<Tier, Values | undefined> = { SIMPLE: undefined, MEDIUM: undefined, COMPLEX: undefined }
  /** What was told last, and of which values. */
  readonly #told: Record<Tier, { readonly values: Values; readonly outcomes: Outcomes } | undefined> = {
    SIMPLE: undefined,
    MEDIUM: undefined,
    COMPLEX: undefined,
  }

  constructor(of: string) {
    this.of = of
  }

  /** Figures are about to be added. */
  changes(): void {
    this.#values.SIMPLE = this.#values.MEDIUM = this.#values.COMPLEX = undefined
  }

  values(tier: Tier): Values {
    return (this.#values[tier] ??= this.#valuesNow(tier))
  }

  valuesOfHour(tier: Tier, now: number): Values {
    return hourOf(now) > this.#hour ? this.values(tier) : this.#ofHour[tier]
  }

  /** Values with the reliability of now: the same object as before if both are, since each decision asks several times. */
  outcomes(tier: Tier, values: Values, now: number): Outcomes {
    const reliability = reliabilityOf(this.tries.values, now)
    const told = this.#told[tier]
    if (told?.values === values && told.outcomes.reliability === reliability) return told.outcomes
    const outcomes = { reliability, ...values }
    this.#told[tier] = { values, outcomes }
    return outcomes
  }

  /** Keeps what is known, if an answer is the first one of its hour. */
  keepHour(now: number): void {
    const hour = hourOf(now)
    if (hour <= this.#hour) return
    this.#hour = hour
    this.#ofHour = { SIMPLE: this.values('SIMPLE'), MEDIUM: this.values('MEDIUM'), COMPLEX: this.values('COMPLEX') }
  }

  #valuesNow(tier: Tier): Values {
    const outputs = this.outputs[tier]
    return {
      firstByte: this.firstBytes.quantile(0.5),
      slowFirstByte: this.firstBytes.quantile(0.95),
      output: outputs.count >= enough ? outputs.quantile(0.5) : null,
      inputRatio: this.ratios.mean ?? 1,
      cacheReads: this.reads.mean ?? 0,
      cacheWrites: this.writes.mean ?? 0,
    }
  }
}

function hourOf(time: number): number {
  return Math.floor(time / 3_600_000)
}

/** The newest values of a kind, as many of each API key, conversation and ask as may count. */
class Newest<T> {
  /** The oldest first, with the origin of each. */
  readonly #values: T[] = []
  readonly #origins: (Origin | undefined)[] = []

  get values(): readonly T[] {
    return this.#values
  }

  /**
   * Adds a value in place of the earlier ones of the conversation and of the ask, else of the oldest one of a key or of
   * all that have enough.
   * @param gone called with each of those
   */
  add(value: T, from?: Origin, gone?: (value: T) => void): void {
    const isReplaced = from !== undefined && this.#dropSame(from, gone)
    if (!isReplaced) {
      const own = from === undefined ? -1 : this.#oldestOf(from.key)
      const oldest = own < 0 && this.#values.length >= newest.all ? 0 : own
      if (oldest >= 0) {
        gone?.(this.#values[oldest] as T)
        dropAt(this.#values, oldest)
        dropAt(this.#origins, oldest)
      }
    }
    this.#values.push(value)
    this.#origins.push(from)
  }

  /** Drops the values of a conversation, and of an ask of a key. Returns whether there are any. */
  #dropSame(from: Origin, gone: ((value: T) => void) | undefined): boolean {
    let kept = 0
    for (let at = 0; at < this.#values.length; at++) {
      const value = this.#values[at] as T
      const origin = this.#origins[at]
      if (origin && isSame(origin, from)) {
        gone?.(value)
        continue
      }
      this.#values[kept] = value
      this.#origins[kept++] = origin
    }
    const isAny = kept < this.#values.length
    while (this.#values.length > kept) {
      this.#values.pop()
      this.#origins.pop()
    }
    return isAny
  }

  /** Where the oldest value of a key is that has enough; -1: it has not. */
  #oldestOf(key: string | null): number {
    let oldest = -1
    let count = 0
    for (let at = this.#origins.length - 1; at >= 0; at--) {
      const origin = this.#origins[at]
      if (!origin || origin.key !== key) continue
      oldest = at
      count++
    }
    return count < newest.key ? -1 : oldest
  }
}

function isSame(one: Origin, other: Origin): boolean {
  const isOfConversation = other.conversation !== null && one.conversation === other.conversation
  return isOfConversation || (one.key === other.key && one.ask === other.ask)
}

/** Like `splice`, which makes a list of what it drops. */
function dropAt(list: unknown[], at: number): void {
  for (let next = at + 1; next < list.length; next++) list[next - 1] = list[next]
  list.pop()
}

/** The newest figures of a kind. Asking is cheaper than adding: each routed request asks several times of each model. */
class Figures {
  readonly #newest = new Newest<number>()
  /** In ascending order. */
  readonly #sorted: number[] = []
  /** Undefined: since the last figure was added, nobody has asked. */
  #mean: number | undefined
  readonly #drop = (value: number) => dropAt(this.#sorted, this.#sorted.indexOf(value))

  get count(): number {
    return this.#sorted.length
  }

  get mean(): number | null {
    if (this.count === 0) return null
    return (this.#mean ??= this.#newest.values.reduce((sum, value) => sum + value, 0) / this.count)
  }

  add(value: number, from?: Origin): void {
    this.#newest.add(value, from, this.#drop)
    const sorted = this.#sorted
    let place = sorted.push(value) - 1
    for (; place > 0 && (sorted[place - 1] as number) > value; place--) sorted[place] = sorted[place - 1] as number
    sorted[place] = value
    this.#mean = undefined
  }

  /** The value that this share of the values is at most (nearest rank). */
  quantile(share: number): number | null {
    return this.#sorted[Math.max(0, Math.ceil(share * this.count) - 1)] ?? null
  }
}
