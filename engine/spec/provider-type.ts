import type { JSONSchema } from 'json-schema-to-ts'
import type { JsonObject } from './json.ts'
import type { Offering } from './open-provider.ts'

/** A preset of a provider type, as it is shown to choose from. */
export interface ProviderPreset {
  /** The word in `preset`. */
  readonly name: string
  readonly base_url: string
  /** The usual environment variable of the key; absent: no key is needed. */
  readonly env?: string
}

/** A type of provider, as far as it can be told without opening one. */
export interface ProviderType {
  readonly name: string
  readonly summary: string
  readonly config: JSONSchema
  readonly secrets?: readonly string[]
  readonly destinations?: readonly string[]
  readonly presets?: readonly ProviderPreset[]
  offers(config: JsonObject): readonly Offering[]
}
