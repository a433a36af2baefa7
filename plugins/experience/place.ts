import type { Mode, Tier } from '../../engine/index.ts'

/** What experience is about: a model in a mode and tier. */
export interface Place {
  readonly model: string
  readonly mode: Mode
  readonly tier: Tier
}

/** A key for maps. */
export function keyOf({ model, mode, tier }: Place): string {
  return `${mode} ${tier} ${model}`
}

/** The place of a row of the database. */
export function placeOf({ model, mode, tier }: Record<keyof Place, string>): Place {
  return { model, mode: mode as Mode, tier: tier as Tier }
}
