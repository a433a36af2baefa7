import type { JsonObject, StopReason } from '../../engine/index.ts'
import { object, objects } from './values.ts'

/** The content of an answer that determines its stop reason. */
export interface Spoken {
  readonly call: boolean
  readonly refusal: boolean
}

/** The content of a response's items. */
export function spoken(output: readonly JsonObject[]): Spoken {
  return {
    call: output.some(({ type }) => type === 'function_call' || type === 'custom_tool_call'),
    refusal: output.some(({ content }) => objects(content).some(({ type }) => type === 'refusal')),
  }
}

/** The stop reason of a `completed` or `incomplete` response. */
export function parseStop(response: JsonObject, said: Spoken): StopReason {
  if (response['status'] === 'incomplete') {
    switch (object(response['incomplete_details'])?.['reason']) {
      case 'content_filter':
        return 'filter'
      case 'steered':
        return 'end'
      default:
        return 'length'
    }
  }
  if (said.call) return 'tool'
  return said.refusal ? 'refusal' : 'end'
}

/** The response's status and `incomplete_details` for a stop reason. */
export function printStop(stop: StopReason, refused: boolean): { status: 'completed' | 'incomplete'; reason?: string } {
  switch (stop) {
    case 'length':
    case 'context':
    // The provider would continue, so the answer is only a part.
    case 'pause':
      return { status: 'incomplete', reason: 'max_output_tokens' }
    case 'filter':
      return { status: 'incomplete', reason: 'content_filter' }
    case 'refusal':
      return refused ? { status: 'completed' } : { status: 'incomplete', reason: 'content_filter' }
    case 'end':
    case 'stop':
    case 'tool':
      return { status: 'completed' }
  }
}
