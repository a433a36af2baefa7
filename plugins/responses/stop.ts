import type { JsonObject, StopReason } from '../../engine/index.ts'
import { object, objects } from './values.ts'

/** What an answer contains that decides how it stopped. */
export interface Spoken {
  readonly call: boolean
  readonly refusal: boolean
}

/** What the items of a response contain. */
export function spoken(output: readonly JsonObject[]): Spoken {
  return {
    call: output.some(({ type }) => type === 'function_call' || type === 'custom_tool_call'),
    refusal: output.some(({ content }) => objects(content).some(({ type }) => type === 'refusal')),
  }
}

/** Why a `completed` or `incomplete` response ended. */
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

/** Status and `incomplete_details` of the response that a stop reason makes. */
export function printStop(stop: StopReason, refused: boolean): { status: 'completed' | 'incomplete'; reason?: string } {
  switch (stop) {
    case 'length':
    case 'context':
    // The provider would go on: what there is of the answer is a part of it.
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
