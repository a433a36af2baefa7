import type { Tier } from '../../../engine/index.ts'

/** Random numbers of a world, which the gateway does not see (mulberry32). */
export function noise(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Four models of four levels. */
export interface WorldModel {
  readonly name: string
  readonly level: number
  /** From 0 to 1; it counts `costWeight` as much as quality. */
  readonly cost: number
}

export const models: readonly WorldModel[] = [
  { name: 'a', level: 0, cost: 0 },
  { name: 'b', level: 0.33, cost: 0.08 },
  { name: 'c', level: 0.67, cost: 0.3 },
  { name: 'd', level: 1, cost: 1 },
]
export const costWeight = 0.12

/** Requests of a run; share of them that are rated; mean number of requests until a rating arrives. */
export const length = 8000
export const rated = 0.25
export const delay = 30
/** Request at which a world changes. */
export const change = 4000

/** Share of the requests, complexity, and the probability that the answer of each model is good enough. */
export const tiers: readonly {
  readonly tier: Tier
  readonly share: number
  readonly complexity: number
  readonly quality: readonly number[]
}[] = [
  { tier: 'SIMPLE', share: 0.55, complexity: 0.165, quality: [0.93, 0.95, 0.96, 0.97] },
  { tier: 'MEDIUM', share: 0.3, complexity: 0.5, quality: [0.72, 0.85, 0.88, 0.92] },
  { tier: 'COMPLEX', share: 0.15, complexity: 0.835, quality: [0.4, 0.62, 0.74, 0.86] },
]

export type World = 'stationary' | 'abrupt' | 'smooth' | 'new'

/** The probability that the answer of a model is good enough at a time. */
export function qualityAt(world: World, tier: number, model: number, time: number): number {
  let quality = tiers[tier]?.quality[model] ?? 0
  if (world === 'abrupt' && model === 1 && time >= change) quality -= 0.3
  if (world === 'smooth') quality += 0.12 * Math.sin(2 * Math.PI * (time / 6000 + model / 4))
  return Math.min(0.98, Math.max(0.02, quality))
}

/** In the new world, the second model appears at the change. */
export function isThere(world: World, model: number, time: number): boolean {
  return world !== 'new' || model !== 1 || time >= change
}
