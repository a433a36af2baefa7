import type { StopReason } from '../../../engine/index.ts'

const reasons: ReadonlyMap<string, StopReason> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context'],
  ['tool_use', 'tool'],
  ['guardrail_intervened', 'filter'],
  ['content_filtered', 'filter'],
])

/** The neutral form of a stop reason; undefined if it is unknown or absent. */
export function parseStop(reason: unknown): StopReason | undefined {
  return typeof reason === 'string' ? reasons.get(reason) : undefined
}
