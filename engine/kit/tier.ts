/** Tiers of requests for virtual models, in ascending order: how strong a model they need. */
export const tiers = ['SIMPLE', 'MEDIUM', 'COMPLEX'] as const

export type Tier = (typeof tiers)[number]

/** The complexities of a tier: the first, the one in the middle, and the highest that is shown as a part of it. */
export const tierRanges: Readonly<
  Record<Tier, { readonly from: number; readonly centre: number; readonly to: number }>
> = {
  SIMPLE: { from: 0, centre: 0.165, to: 0.329 },
  MEDIUM: { from: 0.33, centre: 0.5, to: 0.669 },
  COMPLEX: { from: 0.67, centre: 0.835, to: 1 },
}

/** The tier of a complexity from 0 to 1, which must not be rounded before. */
export function tierOf(complexity: number): Tier {
  return complexity < tierRanges.MEDIUM.from ? 'SIMPLE' : complexity < tierRanges.COMPLEX.from ? 'MEDIUM' : 'COMPLEX'
}
