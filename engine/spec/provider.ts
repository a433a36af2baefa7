import type { ConfigOf, Stability } from './config.ts'
import type { Host } from './host.ts'
import type { JsonObject } from './json.ts'
import type { Offering, Provider, ProviderPreset, ProviderType } from './open-provider.ts'
import type { ServiceName, Views } from './service.ts'

/** A provider type. One file with such a type adds a vendor. */
export interface ProviderParts<S, U extends ServiceName = never> {
  /** The `type` in the configuration file. */
  readonly name: string
  readonly summary: string
  /** Default: `beta`. */
  readonly stability?: Stability
  /** JSON Schema of its own fields besides `name` and `type`; every property has a description. */
  readonly config: S
  /**
   * Fields with a secret value: never shown, and redacted in all output. The values of `headers` and credentials in
   * addresses are always secret, without being listed here.
   */
  readonly secrets?: readonly string[]
  /**
   * Fields that decide where secrets are sent, such as a region. Whoever changes one of them at run time must enter the
   * secrets again. Host, port and scheme of the addresses in any field count without being listed here. Default: all
   * fields, except secrets and those of `upstreamProperties`.
   */
  readonly destinations?: readonly string[]
  /** Settings under a name, for vendors and servers that are well known. */
  readonly presets?: readonly ProviderPreset[]
  /** Services whose views it gets. */
  readonly uses?: readonly U[]
  offers(config: ConfigOf<S>): readonly Offering[]
  /**
   * Opens the provider. It may keep views but must not call them yet: services are closed while a configuration is
   * only checked.
   */
  open(config: ConfigOf<S>, host: Host, services: Views<U>): Provider
}

/** A declared provider type in a registry: opened only with a configuration that its schema accepted. */
export interface AnyProvider extends ProviderType {
  readonly kind: 'provider'
  readonly stability?: Stability
  readonly uses?: readonly string[]
  open(config: JsonObject, host: Host, services?: object): Provider
}

/** Declares a provider type. */
export function defineProvider<const S, const U extends ServiceName = never>(plugin: ProviderParts<S, U>): AnyProvider {
  return { kind: 'provider', ...plugin } as AnyProvider
}
