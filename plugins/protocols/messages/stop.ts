import type { StopReason } from '../../../engine/index.ts'

const reasons: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context'],
  ['tool_use', 'tool'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
])

/** The neutral form of a stop reason; undefined if it is unknown or absent. */
export function parseStop(reason: unknown): StopReason | undefined {
  return typeof reason === 'string' ? reasons.get(reason) : undefined
}

const words = {
  end: 'end_turn',
  stop: 'stop_sequence',
  length: 'max_tokens',
  context: 'model_context_window_exceeded',
  tool: 'tool_use',
  refusal: 'refusal',
  // This protocol has no content filter: an answer that a filter ended counts as refused.
  filter: 'refusal',
  pause: 'pause_turn',
} as const satisfies Record<StopReason, string>

/** Prints a neutral stop reason. */
export function printStop(stop: StopReason): string {
  return words[stop]
}
