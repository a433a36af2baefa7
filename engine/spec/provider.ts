import type { JSONSchema } from 'json-schema-to-ts'
import type { ConfigOf } from './config.ts'
import type { Host } from './host.ts'
import type { JsonObject } from './json.ts'
import type { Offering, Provider } from './open-provider.ts'
import type { ServiceName, Views } from './service.ts'

/** A provider type: a file that adds one is all a new vendor takes. */
export interface ProviderParts<S, U extends ServiceName = never> {
  /** The `type` in the config file. */
  readonly name: string
  readonly summary: string
  /** JSON Schema of its own fields beside `name` and `type`; every property has a description. */
  readonly config: S
  /**
   * Fields whose value is a secret: never shown, hidden in whatever leaves. The values of `headers` and the credentials in
   * addresses are secrets of every type, without being named here.
   */
  readonly secrets?: readonly string[]
  /** Services whose views it is opened with. */
  readonly uses?: readonly U[]
  offers(config: ConfigOf<S>): readonly Offering[]
  /** Opens it. It keeps the views it needs and calls none of them yet: while a configuration is only checked, no service is open. */
  open(config: ConfigOf<S>, host: Host, services: Views<U>): Provider
}

/** A declared provider type, as a registry holds it: opened only with a configuration its own schema accepted. */
export interface AnyProvider {
  readonly kind: 'provider'
  readonly name: string
  readonly summary: string
  readonly config: JSONSchema
  readonly secrets?: readonly string[]
  offers(config: JsonObject): readonly Offering[]
  readonly uses?: readonly string[]
  open(config: JsonObject, host: Host, services?: object): Provider
}

/** Declares a provider type. */
export function defineProvider<const S, const U extends ServiceName = never>(plugin: ProviderParts<S, U>): AnyProvider {
  return { kind: 'provider', ...plugin } as AnyProvider
}
