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

/** A wire stop reason in neutral words; undefined for one that is unknown or was not given. */
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
  // There is no content filter here: what a filter cut short was refused.
  filter: 'refusal',
  pause: 'pause_turn',
} as const satisfies Record<StopReason, string>

/** A neutral stop reason on the wire. */
export function printStop(stop: StopReason): string {
  return words[stop]
}
