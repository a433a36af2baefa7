import type { PrintTarget } from '../../../engine/index.ts'
import type { Losses, ToolNames } from '../../../engine/kit.ts'
import type { GeminiTraits } from './traits.ts'

/** Context for printing a request. */
export interface Printing {
  readonly target: PrintTarget
  readonly traits: GeminiTraits
  readonly names: ToolNames
  readonly losses: Losses
}
