import type { JsonObject } from '../spec/json.ts'
import type { RecordFilter } from '../spec/record.ts'

/** A filter by where records come from. */
export const sourceFilter: RecordFilter = { accepts: ['file', 'database'] }

/** The fields that every record shows, also one that is declared in the file. */
export function withTimes(shown: JsonObject): JsonObject {
  return { created_at: null, updated_at: null, ...shown }
}

/** JSON Schema of the name of a record. */
export const recordName = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  // Neither do databases hold a null character or half of a surrogate pair.
  pattern: '^[^\\s\\u0000\\ud800-\\udfff]+$',
  patternErrorMessage: 'must have no spaces',
} as const
