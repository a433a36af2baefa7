import { isObject, parseJson } from '../../../engine/index.ts'
import type { JsonObject } from '../../../engine/index.ts'

/** The chunk that a frame holds; undefined for `[DONE]` and for what cannot be read, which tells nothing. */
export function chunkOf(data: string): JsonObject | undefined {
  try {
    const chunk = parseJson(data)
    return isObject(chunk) ? chunk : undefined
  } catch {
    // Frames that are passed on are their client's to judge.
    return undefined
  }
}
