import type { Json, JsonObject, Logprob } from '../../../engine/index.ts'
import { asText, isObject } from '../../../engine/kit.ts'

/** The log probabilities of a chunk; undefined if it has none. */
export function parseLogprobs(result: Json | undefined): readonly Logprob[] | undefined {
  if (!isObject(result) || !Array.isArray(result.chosenCandidates)) return undefined
  const tops = Array.isArray(result.topCandidates) ? result.topCandidates : []
  return result.chosenCandidates.filter(isObject).map((chosen, at) => {
    const top: unknown = tops[at]
    const others = isObject(top) && Array.isArray(top.candidates) ? top.candidates.filter(isObject) : undefined
    return { ...single(chosen), ...(others ? { top: others.map(single) } : {}) }
  })
}

function single({ token, logProbability }: JsonObject): Omit<Logprob, 'top'> {
  return { token: asText(token), logprob: Number(logProbability) }
}

/** Log probabilities as the `logprobsResult` of a chunk. */
export function printLogprobs(list: readonly Logprob[]): JsonObject {
  const printed = ({ token, logprob }: Omit<Logprob, 'top'>) => ({ token, logProbability: logprob })
  return {
    chosenCandidates: list.map(printed),
    topCandidates: list.map(({ top = [] }) => ({ candidates: top.map(printed) })),
  }
}
