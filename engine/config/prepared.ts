import type { ValidateFunction } from 'ajv/dist/2020.js'
import type { Json } from '../spec/json.ts'

/** Own keywords of schemas that compute something: whether a value is within the limit that the schema names. */
export type Keywords = Readonly<Record<'minimum' | 'maximum' | 'decimals', (value: never, limit: never) => boolean>>

/** A YAML file as data, and the places of its values: path, offset of the key, offsets of the value's start and end. */
export type PreparedYaml = { readonly value: Json; readonly places: readonly [string, number, number, number][] }

/**
 * What a package brings ready-made: its build puts that in the place of this module (`config/packaging/`). Validators by the
 * digest of their use and schema; shipped YAML as JSON, by the digest of its text; the exports of the shipped plugins
 * by their files, in the order in which they would be loaded. A checkout has nothing of it.
 */
export const prepared: {
  readonly validators: Readonly<Record<string, (...given: [object, Keywords, NodeJS.Require]) => ValidateFunction>>
  readonly yaml: Readonly<Record<string, string>>
  readonly plugins?: () => Promise<ReadonlyMap<string, unknown>>
} = { validators: {}, yaml: {} }
