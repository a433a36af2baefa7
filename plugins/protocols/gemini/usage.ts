import type { Json, JsonObject, Usage } from '../../../engine/index.ts'
import { isObject } from '../../../engine/kit.ts'

/**
 * Parses `usageMetadata` into disjoint buckets. `promptTokenCount` includes cached tokens, but not what the vendor's own
 * tools added to the prompt; `candidatesTokenCount` does not include thoughts. Undefined if a count is no number of
 * tokens, or if there is none of the prompt.
 */
export function parseUsage(wire: Json | undefined): Usage | undefined {
  if (!isObject(wire)) return undefined
  const prompt = count(wire.promptTokenCount)
  const added = count(wire.toolUsePromptTokenCount ?? 0)
  const cached = count(wire.cachedContentTokenCount ?? 0)
  const output = count(wire.candidatesTokenCount ?? 0)
  const reasoning = count(wire.thoughtsTokenCount ?? 0)
  if (prompt === undefined || added === undefined || cached === undefined) return undefined
  if (output === undefined || reasoning === undefined) return undefined
  const cacheRead = Math.min(cached, prompt)
  const input = prompt - cacheRead + added
  const { audio: inputAudio, image: inputImage } = uncached(wire, input)
  const { audio: outputAudio, image: outputImage } = mediaOf(wire.candidatesTokensDetails, output)
  return {
    input,
    ...(inputAudio > 0 ? { inputAudio } : {}),
    ...(inputImage > 0 ? { inputImage } : {}),
    cacheRead,
    cacheWrite: 0,
    output,
    ...(outputAudio > 0 ? { outputAudio } : {}),
    ...(outputImage > 0 ? { outputImage } : {}),
    reasoning,
  }
}

interface MediaTokens {
  readonly audio: number
  readonly image: number
}

/** Audio and image tokens of the prompt that no cache held. */
function uncached(wire: JsonObject, input: number): MediaTokens {
  const all = mediaOf(wire.promptTokensDetails, Infinity)
  const cached = mediaOf(wire.cacheTokensDetails, Infinity)
  const audio = Math.min(input, Math.max(0, all.audio - cached.audio))
  return { audio, image: Math.min(input - audio, Math.max(0, all.image - cached.image)) }
}

/** Audio and image tokens of a list of `{ modality, tokenCount }`, together at most `most`. */
function mediaOf(details: Json | undefined, most: number): MediaTokens {
  const of = (modality: string) =>
    (Array.isArray(details) ? details : [])
      .filter(isObject)
      .filter((entry) => entry.modality === modality)
      .reduce((sum, { tokenCount }) => sum + (count(tokenCount) ?? 0), 0)
  const audio = Math.min(most, of('AUDIO'))
  return { audio, image: Math.min(most - audio, of('IMAGE')) }
}

function count(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Prints the buckets as `usageMetadata`. */
export function printUsage(usage: Usage): JsonObject {
  const { input, cacheRead, cacheWrite, output, reasoning, inputAudio = 0, inputImage = 0 } = usage
  const prompt = input + cacheRead + cacheWrite
  const { outputAudio = 0, outputImage = 0 } = usage
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: output,
    totalTokenCount: prompt + output + reasoning,
    ...(cacheRead > 0 ? { cachedContentTokenCount: cacheRead } : {}),
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    ...details('promptTokensDetails', prompt, inputAudio, inputImage),
    ...details('candidatesTokensDetails', output, outputAudio, outputImage),
  }
}

function details(name: string, all: number, audio: number, image: number): JsonObject {
  if (audio + image === 0) return {}
  const tokens = { TEXT: all - audio - image, AUDIO: audio, IMAGE: image }
  const entries = Object.entries(tokens).filter(([, tokenCount]) => tokenCount > 0)
  return { [name]: entries.map(([modality, tokenCount]) => ({ modality, tokenCount })) }
}
