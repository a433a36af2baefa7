import type { Mode } from '../../engine/index.ts'
import type { Random } from './random.ts'

/** Costs below this count as this, in USD, so that free models stay comparable. */
const leastCost = 1e-7
/** Milliseconds until the first byte at which half of the score of latency is left. */
const halfLatency = 1500

/** The level of a model's class: from 0, economy, to 1, premium. */
export function levelOf(qualityTier: string | undefined): number {
  if (qualityTier === 'premium') return 1
  return qualityTier === 'balanced' ? 0.5 : 0
}

/** The level of models that a request of this benefit needs, from 0 to 1. */
export function needOf(benefit: number, mode: Mode): number {
  const need = clip((benefit - 0.165) / 0.67)
  if (mode === 'fast') return need / 2
  return mode === 'best' ? Math.max(0.5, need) : need
}

/** The probability that an answer is good enough, before anything was observed. */
export function priorMean(need: number, level: number): number {
  return 0.9 - 0.5 * Math.max(0, need - level) + 0.05 * Math.max(0, level - need)
}

/** The part of the score that quality has; the rest is for cost. `weight` is the one of the mode. */
export function qualityShare(benefit: number, weight: number): number {
  return weight + benefit * (1 - weight) * 0.8
}

/**
 * How expensive a model is, from 0 to 1: the doublings that separate it from the cheapest, of six. So a doubling counts
 * the same among all models. A model without a price counts as the most expensive.
 */
export function costScale(cost: number | null, cheapest: number | null): number {
  if (cost === null || cheapest === null) return 1
  return clip(Math.log2(floored(cost) / floored(cheapest)) / 6)
}

/** How many times as much one model costs as another; null: one of them has no price. */
export function costRatio(cost: number | null, other: number | null): number | null {
  return cost === null || other === null ? null : floored(cost) / floored(other)
}

/** What is known of a model before it is scored. */
export interface Arm {
  /** Its name. */
  readonly model: string
  readonly level: number
  /** Predicted, in USD; null: it has no prices. */
  readonly cost: number | null
  /** Beta(a, b): the probability that its answer is good enough, as far as it is known. */
  readonly a: number
  readonly b: number
  /** The same as the gate of quality takes it; absent: it is the same. */
  readonly gate?: { readonly a: number; readonly b: number } | undefined
  /** From 0 to 1. */
  readonly reliability: number
  /** Milliseconds until its first byte, usually; null: unknown. */
  readonly firstByte: number | null
  /** What is added if the conversation is with it, and it passes the gate of quality. */
  readonly bonus: number
  /** In a decision that is made again: what its row says of cost and of the rest of the score, in place of the above. */
  readonly recorded?: Pick<Scored, 'c' | 'rest'>
}

/** How models are scored. */
export interface Rules {
  readonly mode: Mode
  /** What a better model gains, from 0 to 1. */
  readonly benefit: number
  /** Weight of quality in this mode, from 0 to 1. */
  readonly weight: number
  /** Share of the best mean that a model must reach. */
  readonly gate: number
  /** Draws from what is known of the models; undefined: the means count. */
  readonly random?: Random | undefined
  /** Models that draw, too, but are not in the order. */
  readonly gone?: readonly Pick<Arm, 'model' | 'a' | 'b'>[] | undefined
}

/** A model with its score. */
export interface Scored extends Arm {
  /** Cost from 0 to 1, of six doublings. */
  readonly c: number
  readonly mean: number
  /** What was drawn; the mean if nothing was. */
  readonly draw: number
  /** Whether it passed the gate of quality. */
  readonly pass: boolean
  /** From 0 to 1, where 1 is at once. */
  readonly latency: number
  readonly continuity: number
  /** What reliability and latency add to the score. */
  readonly rest: number
  /** The part of the score that quality has, which is the same for all models of a decision. */
  readonly share: number
  readonly score: number
}

/**
 * The models in the order in which they are to be asked. Those that reach a share of the best mean go first. The means
 * decide this, because one lucky draw would exclude every good model. Then the score decides, then the higher level in
 * `best` and the lower cost otherwise, then the name. Models draw in the order of their names.
 */
export function ranked(given: readonly Arm[], rules: Rules): readonly Scored[] {
  const models = scored(given, rules)
  if (rules.random) draw(sorted(models, byName), rules.random, rules.gone)
  return sorted(models, (one, other) => inOrder(one, other, rules.mode))
}

/** Models with their scores by means, in the same order. */
export function scored(arms: readonly Arm[], { mode, benefit, weight, gate }: Rules): readonly Scored[] {
  let best = -Infinity
  let cheapest: number | null = null
  const models: Scored[] = []
  for (const arm of arms) {
    const model = asRowsHaveIt(arm)
    models.push(model)
    best = Math.max(best, gateMeanOf(model))
    cheapest = lower(cheapest, arm.cost)
  }
  const share = qualityShare(benefit, weight)
  const quick = mode === 'fast' ? 0.1 : 0.05
  for (let index = 0; index < models.length; index++) {
    const model = models[index] as Drawn
    const { bonus, recorded } = arms[index] as Arm
    model.pass = gateMeanOf(model) >= gate * best
    model.latency = model.firstByte === null ? 0.5 : 1 / (1 + model.firstByte / halfLatency)
    model.c = recorded?.c ?? short(costScale(model.cost, cheapest))
    model.rest = recorded?.rest ?? short(0.1 * (model.reliability - 1) + quick * (model.latency - 0.5))
    model.continuity = model.pass ? bonus : 0
    model.share = share
    model.draw = model.mean
    model.score = scoreOf(model)
  }
  return models
}

type Drawn = { -readonly [K in keyof Scored]: Scored[K] }

/**
 * An arm as rows have it: what was decided is made of no other numbers, so it can be decided again. Built at once with
 * all fields: a copy that grows takes several times the memory.
 */
function asRowsHaveIt({ model, level, cost, a, b, gate, reliability, firstByte, bonus, recorded }: Arm): Scored {
  const rounded = recorded ? same : short
  const [own, others] = [rounded(a), rounded(b)]
  return {
    model,
    level,
    cost,
    a: own,
    b: others,
    gate: gate && { a: rounded(gate.a), b: rounded(gate.b) },
    reliability,
    firstByte,
    bonus,
    c: 0,
    mean: own / (own + others),
    draw: 0,
    pass: false,
    latency: 0,
    continuity: 0,
    rest: 0,
    share: 0,
    score: 0,
  }
}

/** A number of seven digits. */
function short(value: number): number {
  return Number(value.toPrecision(7))
}

function same(value: number): number {
  return value
}

/**
 * Gives models what they draw in place of their means.
 * @param named in order of name
 * @param gone models that draw, too
 */
export function draw(named: readonly Scored[], random: Random, gone: Rules['gone'] = none): void {
  const all = gone.length === 0 ? named : [...named, ...gone].sort(byName)
  for (const one of all) {
    const drawn = random.beta(one.a, one.b)
    if ('score' in one) redraw(one, drawn)
  }
}

const none: readonly never[] = []

function redraw(model: Drawn, drawn: number): void {
  model.draw = drawn
  model.score = scoreOf(model)
}

function scoreOf({ share, draw: drawn, c, rest, continuity }: Scored): number {
  return share * drawn - (1 - share) * c + rest + continuity
}

/** Lists of at most so many are put in order one by one. */
const few = 32

/** Like `toSorted`, which takes nearly a kilobyte for whatever it sorts. */
export function sorted<T>(list: readonly T[], compare: (one: T, other: T) => number): readonly T[] {
  if (list.length > few) return list.toSorted(compare)
  const all = list.slice()
  for (let at = 1; at < all.length; at++) {
    const one = all[at] as T
    let place = at
    for (; place > 0 && compare(all[place - 1] as T, one) > 0; place--) all[place] = all[place - 1] as T
    all[place] = one
  }
  return all
}

/** Compares two models by what decides which is asked first. */
export function inOrder(one: Scored, other: Scored, mode: Mode): number {
  if (one.pass !== other.pass) return one.pass ? -1 : 1
  if (one.score !== other.score) return other.score - one.score
  if (mode === 'best' && one.level !== other.level) return other.level - one.level
  const byCost = mode === 'best' ? 0 : tieOf(one, other)
  return byCost === 0 ? byName(one, other) : byCost
}

/**
 * Compares the costs of two models of the same score: by their places on the scale, which rows have, so that a decision
 * that is made again decides alike. Many costs share its end, where they themselves decide.
 */
function tieOf(one: Scored, other: Scored): number {
  const isEnd = one.c === 1 && other.c === 1
  const [own, its] = isEnd ? [one.cost ?? Infinity, other.cost ?? Infinity] : [one.c, other.c]
  return own === its ? 0 : own - its
}

/** By UTF-16 code units, which are the same on every machine. */
export function byName({ model: one }: Pick<Arm, 'model'>, { model: other }: Pick<Arm, 'model'>): number {
  return one < other ? -1 : Number(one > other)
}

function meanOf({ a, b }: Pick<Arm, 'a' | 'b'>): number {
  return a / (a + b)
}

function gateMeanOf(arm: Arm): number {
  return meanOf(arm.gate ?? arm)
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

function floored(cost: number): number {
  return Math.max(cost, leastCost)
}

function clip(value: number): number {
  return Math.min(1, Math.max(0, value))
}
