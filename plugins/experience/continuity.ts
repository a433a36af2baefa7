import type { Services, Tier } from '../../engine/index.ts'
import { parsedObject } from '../../engine/kit.ts'

/** What served a conversation last. */
export interface Incumbent {
  /** Name of the model. */
  readonly model: string
  /** What the model was chosen for; without `benefit`, that was the complexity. */
  readonly complexity: number
  readonly benefit?: number
  readonly tier: Tier
  /** Share of the input that it read from its cache for the last answer. */
  readonly cached: number
  /** User turns of the conversation then. */
  readonly turns: number
}

export interface Incumbency {
  readonly incumbent?: Incumbent
  /** Whether the store answered in time; also true without a shared store, which is not asked. */
  readonly isKnown: boolean
}

/** Milliseconds from the last answer after which a conversation has no incumbent any more. */
const remembered = 30 * 60_000

/** Reads the incumbent of a conversation, within 50 milliseconds. Never rejects. */
export async function incumbentOf(conversations: Services['conversations'], conversation: string): Promise<Incumbency> {
  const { value, isKnown } = await conversations.recall(conversation, 'last_model')
  const incumbent = value === undefined ? undefined : incumbentIn(value)
  return { isKnown, ...(incumbent && { incumbent }) }
}

/** Writes the incumbent of a conversation, without being waited for. */
export function keepIncumbent(
  conversations: Services['conversations'],
  conversation: string,
  { model, complexity, benefit, tier, cached, turns }: Incumbent,
): void {
  const value = JSON.stringify({ model, complexity, benefit, tier, cached, turns })
  conversations.remember(conversation, 'last_model', value, remembered)
}

/** Undefined for a value that another version of the gateway wrote. */
function incumbentIn(value: string): Incumbent | undefined {
  const { model, complexity, benefit, tier, cached, turns } = parsedObject(value) ?? {}
  if (typeof model !== 'string' || typeof complexity !== 'number') return undefined
  if (tier !== 'SIMPLE' && tier !== 'MEDIUM' && tier !== 'COMPLEX') return undefined
  if (typeof cached !== 'number' || typeof turns !== 'number') return undefined
  return { model, complexity, ...(typeof benefit === 'number' && { benefit }), tier, cached, turns }
}
