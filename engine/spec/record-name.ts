/** JSON Schema of the name of a record. */
export const recordName = {
  type: 'string',
  minLength: 1,
  maxLength: 256,
  pattern: '^\\S+$',
  patternErrorMessage: 'must have no spaces',
} as const
