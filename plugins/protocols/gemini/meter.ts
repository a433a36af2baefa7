import type { Frame, JsonObject, Metered, Relaying } from '../../../engine/index.ts'
import { asText, isObject, parsedObject } from '../../../engine/kit.ts'
import { parseStop } from './stop.ts'
import { parseUsage } from './usage.ts'

/** Measures answers that are relayed. Each chunk of a stream counts all tokens until then. */
export const meter: Relaying['meter'] = {
  reply: (body) => (isObject(body) ? metered(body, candidateOf(body)) : {}),
  stream: (first, last) => {
    const chunks = [...first, ...last].map(chunkOf).filter((chunk) => chunk !== undefined)
    const fields = chunks.reduce((known: JsonObject, chunk) => ({ ...known, ...chunk }), {})
    const ended = chunks.findLast((chunk) => candidateOf(chunk)?.finishReason !== undefined)
    const blocked = isObject(fields.promptFeedback) && fields.promptFeedback.blockReason !== undefined
    return { ...metered(fields, ended && candidateOf(ended)), complete: ended !== undefined || blocked }
  },
  said: (frame) => partsOf(candidateOf(chunkOf(frame))).reduce((sum, part) => sum + lengthOf(part), 0),
}

function metered(fields: JsonObject, candidate: JsonObject | undefined): Metered {
  const usage = parseUsage(fields.usageMetadata)
  const reason = asText(candidate?.finishReason)
  const called = partsOf(candidate).some(({ functionCall }) => isObject(functionCall))
  return {
    ...(usage ? { usage } : {}),
    ...(typeof fields.modelVersion === 'string' ? { model: fields.modelVersion } : {}),
    ...(reason === '' ? {} : { stop: parseStop(reason, called) }),
    ...(typeof fields.responseId === 'string' ? { id: fields.responseId } : {}),
  }
}

function chunkOf(frame: Frame): JsonObject | undefined {
  return parsedObject(frame.data)
}

function candidateOf(chunk: JsonObject | undefined): JsonObject | undefined {
  const [candidate] = Array.isArray(chunk?.candidates) ? chunk.candidates : []
  return isObject(candidate) ? candidate : undefined
}

function partsOf(candidate: JsonObject | undefined): readonly JsonObject[] {
  const content = isObject(candidate?.content) ? candidate.content : {}
  return Array.isArray(content.parts) ? content.parts.filter(isObject) : []
}

function lengthOf({ text, functionCall }: JsonObject): number {
  const said = isObject(functionCall) ? JSON.stringify(functionCall.args ?? {}) : asText(text)
  return Buffer.byteLength(said)
}
