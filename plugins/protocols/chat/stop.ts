import type { StopReason } from '../../../engine/index.ts'

const reasons = new Map<string, StopReason>([
  ['stop', 'end'],
  ['length', 'length'],
  ['model_length', 'context'],
  ['tool_calls', 'tool'],
  ['function_call', 'tool'],
  ['content_filter', 'filter'],
])

/** The content of an answer, which some servers' `finish_reason` does not reflect. */
export interface Held {
  readonly calls: boolean
  readonly refused: boolean
}

/** The meaning of a `finish_reason`; undefined for an unknown one. */
export function parseStop(reason: string, { calls, refused }: Held): StopReason | undefined {
  const stop = reasons.get(reason)
  if (stop !== 'end' && stop !== 'tool') return stop
  if (calls) return 'tool'
  return refused ? 'refusal' : 'end'
}

/** The `finish_reason` of an answer. A refusal as text stops like any answer. */
export function printStop(stop: StopReason, { refused }: Pick<Held, 'refused'>): string {
  switch (stop) {
    case 'length':
    case 'context':
    // The provider would continue. With another reason, the client would mistake a part of the answer for all of it.
    case 'pause':
      return 'length'
    case 'tool':
      return 'tool_calls'
    case 'filter':
      return 'content_filter'
    case 'refusal':
      return refused ? 'stop' : 'content_filter'
    case 'end':
    case 'stop':
      return 'stop'
  }
}
