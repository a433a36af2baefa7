import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Json, JsonObject } from '../../engine/index.ts'

export interface Fitting {
  /** The JSON schema that the client demands. */
  readonly schema: JsonObject
  /** What the model answered. */
  readonly value: Json
}

/**
 * Whether an answer fits the JSON schema which its client demands. Undefined: nobody can tell, because the schema is
 * none. It runs in a thread, which ends if a schema takes too long.
 */
export default function fitsSchema({ schema, value }: Fitting): boolean | undefined {
  try {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false, ownProperties: true })
    return ajv.validate(schema, value)
  } catch {
    // The client's schema cannot be compiled, which says nothing about the model.
    return undefined
  }
}
