/** JSON Schema of the name of a record. */
export const recordName = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  // Neither do databases hold a null character or half of a surrogate pair.
  pattern: '^[^\\s\\u0000\\ud800-\\udfff]+$',
  patternErrorMessage: 'must have no spaces',
} as const
