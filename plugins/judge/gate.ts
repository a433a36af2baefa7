import type { Services, Slots } from '../../engine/index.ts'
import { hash01 } from '../../engine/kit.ts'

export type JudgeSettings = Services['smart_routing']['settings']['judge']

/** What the gate looks at. */
export interface AtGate {
  /** Id of the request. */
  readonly id: string
  readonly mode: NonNullable<Slots['target']['mode']>
  readonly ensemble: Pick<Slots['ensemble'], 'complexity' | 'confidence'>
  /** Whether nobody has answered in the conversation so far. */
  readonly isFirst: boolean
  readonly isBackground: boolean
}

/** Whether a request passes the gate; `because` is a word for people. */
export interface Gate {
  readonly ask: boolean
  readonly because: 'mode' | 'background' | 'later_turn' | 'gate' | 'gate_fired' | 'sampled'
  readonly gateFired: boolean
  readonly sampled: boolean
  /** The probability with which such a request is asked about. */
  readonly sampleP: number
}

/** Whether the judge is asked about a request, apart from what it costs and whether it works. */
export function gateFor(settings: JudgeSettings, { id, mode, ensemble, isFirst, isBackground }: AtGate): Gate {
  const refused = { ask: false, gateFired: false, sampled: false, sampleP: 0 } as const
  if (!settings.modes.includes(mode)) return { ...refused, because: 'mode' }
  if (isBackground) return { ...refused, because: 'background' }
  if (!isFirst) return { ...refused, because: 'later_turn' }
  if (fires(settings.gate, ensemble))
    return { ask: true, because: 'gate_fired', gateFired: true, sampled: false, sampleP: 1 }
  const sampleP = settings.shadow ? settings.sample_rate : 0
  const sampled = hash01(`${id}judge`) < sampleP
  return { ask: sampled, because: sampled ? 'sampled' : 'gate', gateFired: false, sampled, sampleP }
}

/** All that is set must hold; a gate of which nothing is set never fires. */
function fires(gate: JudgeSettings['gate'], { complexity, confidence }: AtGate['ensemble']): boolean {
  const { max_confidence: most, complexity_band: band, not_low_anchor: isAbove } = gate
  if (most === null && band === null && !isAbove) return false
  const [low = 0, high = Infinity] = band ?? []
  return (most === null || confidence < most) && complexity >= low && complexity < high && (!isAbove || complexity > 0)
}
