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
  const arms = given.map(shortened)
  const best = Math.max(...arms.map(gateMeanOf))
  const cheapest = arms.reduce<number | null>((least, { cost }) => lower(least, cost), null)
  const share = qualityShare(rules.benefit, rules.weight)
  const draws = rules.random && drawsOf([...arms, ...(rules.gone ?? [])], rules.random)
  return arms
    .map((arm) => scored(arm, draws?.get(arm.model), { ...rules, share, cheapest, least: rules.gate * best }))
    .sort((one, other) => inOrder(one, other, rules.mode))
}

/** An arm as rows have it: what was decided is made of no other numbers, so it can be decided again. */
function shortened(arm: Arm): Arm {
  if (arm.recorded) return arm
  const { a, b, gate } = arm
  return { ...arm, a: short(a), b: short(b), ...(gate && { gate: { a: short(gate.a), b: short(gate.b) } }) }
}

/** A number of seven digits. */
function short(value: number): number {
  return Number(value.toPrecision(7))
}

interface Scoring extends Rules {
  readonly share: number
  readonly cheapest: number | null
  /** The lowest mean that passes the gate. */
  readonly least: number
}

function drawsOf(arms: readonly Pick<Arm, 'model' | 'a' | 'b'>[], random: Random): ReadonlyMap<string, number> {
  return new Map(arms.toSorted(byName).map(({ model, a, b }) => [model, random.beta(a, b)]))
}

function scored(arm: Arm, drawn: number | undefined, { mode, share, cheapest, least }: Scoring): Scored {
  const mean = meanOf(arm)
  const draw = drawn ?? mean
  const pass = gateMeanOf(arm) >= least
  const latency = arm.firstByte === null ? 0.5 : 1 / (1 + arm.firstByte / halfLatency)
  const quick = mode === 'fast' ? 0.1 : 0.05
  const { c, rest } = arm.recorded ?? {
    c: short(costScale(arm.cost, cheapest)),
    rest: short(0.1 * (arm.reliability - 1) + quick * (latency - 0.5)),
  }
  const continuity = pass ? arm.bonus : 0
  const score = share * draw - (1 - share) * c + rest + continuity
  const { model, level, cost, a, b, gate, reliability, firstByte, bonus } = arm
  // Field by field: a copy that grows takes several times the memory, and there are two of every model.
  return {
    model,
    level,
    cost,
    a,
    b,
    gate,
    reliability,
    firstByte,
    bonus,
    c,
    mean,
    draw,
    pass,
    latency,
    continuity,
    rest,
    share,
    score,
  }
}

function inOrder(one: Scored, other: Scored, mode: Mode): number {
  if (one.pass !== other.pass) return one.pass ? -1 : 1
  if (one.score !== other.score) return other.score - one.score
  if (mode === 'best' && one.level !== other.level) return other.level - one.level
  const [own, its] = tieCosts(one, other)
  if (mode !== 'best' && own !== its) return own - its
  return byName(one, other)
}

/**
 * What the costs of two models of the same score are compared by: their places on the scale, which rows have, so that a
 * decision that is made again decides alike. Many costs share its end, where they themselves decide.
 */
function tieCosts(one: Scored, other: Scored): readonly [number, number] {
  const isEnd = one.c === 1 && other.c === 1
  return isEnd ? [one.cost ?? Infinity, other.cost ?? Infinity] : [one.c, other.c]
}

/** By UTF-16 code units, which are the same on every machine. */
function byName({ model: one }: Pick<Arm, 'model'>, { model: other }: Pick<Arm, 'model'>): number {
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
