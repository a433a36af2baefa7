import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'

/**
 * What the last sync wrote into a model, by field, as its notes keep it. A field with another value was set by hand
 * since.
 */
export function syncedIn(notes: JsonObject): JsonObject {
  return isObject(notes['synced']) ? notes['synced'] : {}
}

/** Whether a field still has the value that a sync wrote. */
export function isSynced(synced: JsonObject, field: string, value: Json | undefined): boolean {
  return Object.hasOwn(synced, field) && isDeepStrictEqual(synced[field], value)
}

/** Fields that a sync of metadata writes. */
export const metadataFields: readonly string[] = [
  'context_length',
  'max_output_tokens',
  'supports_images',
  'supports_tools',
]
