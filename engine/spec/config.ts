import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/** The type of a configuration that a JSON Schema (declared `as const`) accepts, with defaults filled in. */
export type ConfigOf<S> = S extends JSONSchema ? FromSchema<S> : never

/**
 * How far authors and operators may rely on a component. `stable`: a change that breaks them comes with a new major
 * version alone. `beta`: it may change in any version.
 */
export type Stability = 'stable' | 'beta'

/** The schema of a component without configuration. */
export const noConfig = { type: 'object', additionalProperties: false, properties: {} } as const
