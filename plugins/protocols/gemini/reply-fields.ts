import type { JsonObject, Rest } from '../../../engine/index.ts'
import { protocol } from './wire.ts'

const neutral = ['usageMetadata', 'modelVersion', 'responseId', 'error']
const neutralOfCandidate = ['content', 'finishReason', 'index', 'logprobsResult', 'avgLogprobs', 'tokenCount']

/** Fields of an answer without a neutral form; those of its candidate stand in `candidate`. */
export function replyRest(fields: JsonObject, candidate: JsonObject, searched: boolean): Rest | undefined {
  const known = searched ? [...neutralOfCandidate, 'groundingMetadata'] : neutralOfCandidate
  const own = without(candidate, known)
  const all = { ...without(fields, neutral), ...(Object.keys(own).length > 0 ? { candidate: own } : {}) }
  return Object.keys(all).length > 0 ? { protocol, fields: all } : undefined
}

function without(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([name, value]) => !names.includes(name) && value !== null && value !== undefined),
  )
}
