import type { Mode } from '../../engine/index.ts'
import { levelOf, needOf } from './score.ts'
import type { Incumbent, Shortlist } from './shortlisted.ts'
import { isAbove } from './tier.ts'
import type { Difficulty } from './tier.ts'

/** The level that a model may lack before a harder step of an agent moves to another one. */
const lacking = 0.5

interface Stepping {
  /** Results of tools since the last turn of the user. */
  readonly step: number
  readonly shortlist: Pick<Shortlist, 'entries'> & {
    readonly incumbent: Pick<Incumbent, 'model' | 'tier'> | undefined
  }
  readonly difficulty: Difficulty
}

/**
 * The model that a step of an agent stays with: the one that served the conversation last. It moves on only if a gate has
 * removed that model, if its providers fail, or if the step is too hard for it, and so never to a lower tier. Undefined:
 * the request is no step, or moves on, for the reason in the notes.
 */
export function sticking(
  { step, shortlist: { entries, incumbent }, difficulty }: Stepping,
  mode: Mode,
): { readonly model?: string; readonly notes: readonly string[] } {
  if (step === 0 || incumbent === undefined) return { notes: [] }
  const entry = entries.find(({ model }) => model.name === incumbent.model)
  if (entry === undefined) return { notes: ['sticky=broken:gate'] }
  if (entry.isBroken) return { notes: ['sticky=broken:circuit'] }
  const level = levelOf(entry.model.quality_tier)
  const isTooHard = needOf(difficulty.benefit, mode) - level >= lacking
  if (isAbove(difficulty.tier, incumbent.tier) && isTooHard) return { notes: ['sticky=broken:tier'] }
  return { model: incumbent.model, notes: [`sticky=${incumbent.model}`] }
}
