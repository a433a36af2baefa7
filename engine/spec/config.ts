import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/** The configuration that a JSON Schema (declared `as const`) accepts, defaults filled in. */
export type ConfigOf<S> = S extends JSONSchema ? FromSchema<S> : never

/** The schema of what has no configuration. */
export const noConfig = { type: 'object', additionalProperties: false, properties: {} } as const
