import type { Offer, Provider } from './open-provider.ts'
import type { Pricing } from './pricing.ts'

/** Virtual models: smart routing serves each request for one with a model that it chooses. */
export const virtualModels = ['fast', 'auto', 'best'] as const

/** What a virtual model prefers: low cost, a balance, or quality. */
export type Mode = (typeof virtualModels)[number]

/** The virtual model of a name, in upper or lower case. */
export function modeOf(name: string): Mode | undefined {
  // Most names are longer.
  return name.length > 4 ? undefined : virtualModels.find((mode) => mode === name.toLowerCase())
}

export function isVirtual(name: string): boolean {
  return modeOf(name) !== undefined
}

/** A public page with prices. */
export interface PriceSource {
  /** Its address. */
  readonly source: string
  /** The day on which the prices stood there: `2026-01-31`. */
  readonly date: string
}

/** A place that serves a model. */
export interface Deployment {
  readonly provider: string
  /** The provider's name of the model. */
  readonly upstream_model: string
  /** Its share of the requests among the places of the model, if they are chosen by weight. */
  readonly weight: number
}

/** A configured model, with the field names of the configuration file. */
export interface ModelRecord {
  readonly name: string
  /** The record that it was made of, whose name is a pattern; absent: it is a record itself. */
  readonly pattern?: string
  /** The provider of its first place. */
  readonly provider: string
  /** The provider's name of the model at its first place. */
  readonly upstream_model: string
  /** All places that serve it, in order, if it has `deployments`; `placesOf` gives them in any case. */
  readonly deployments?: readonly Deployment[]
  /** `false`: it is switched off, and clients cannot name it. */
  readonly enabled?: boolean
  readonly aliases: readonly string[]
  /** In tokens. */
  readonly context_length?: number
  /** In tokens. */
  readonly max_output_tokens?: number
  readonly supports_images: boolean
  readonly supports_tools: boolean
  readonly supports_mapeval: boolean
  readonly supports_realtime: boolean
  readonly auto_eligible: boolean
  readonly quality_tier?: string
  readonly routing_assignments?: readonly string[]
  readonly pricing?: Pricing
  /** Where `pricing` is from, if it is not the record's own. */
  readonly listed?: PriceSource
  /** Names of the models to try next. */
  readonly fallbacks: readonly string[]
  /** Protocols to use with the provider, by preference; unset: all that the provider offers. */
  readonly protocols?: readonly string[]
}

/** The places that serve a model, in the order of its record. */
export function placesOf({ deployments, provider, upstream_model }: ModelRecord): readonly Deployment[] {
  return deployments ?? [{ provider, upstream_model, weight: 1 }]
}

/** A provider of the running configuration. */
export interface OpenProvider {
  readonly name: string
  readonly type: string
  readonly offers: readonly Offer[]
  readonly provider: Provider
  /** Why it is off, such as a missing secret; unset: it is on. */
  readonly off?: string
}

/** One way to serve a request: a model at its provider, in one of the protocols that the provider offers. */
export interface Candidate {
  readonly model: ModelRecord
  readonly provider: OpenProvider
  readonly offer: Offer
  /** Provider and model family. Reasoning sealed by one origin cannot be used by another. */
  readonly origin: string
}

/**
 * The sections of `server_config` that concern requests, with defaults filled in; `docs/reference/settings.md`
 * explains each field.
 */
export interface ServerSettings {
  readonly resilience: {
    /** In bytes. */
    readonly max_event_bytes: number
    /** Duration as text. */
    readonly cooldown: string
    /** Durations as text. */
    readonly timeouts: {
      readonly connect: string
      readonly first_byte: string
      readonly idle: string
      readonly total: string
    }
  }
  /** Durations as text. */
  readonly keepalive: { readonly upstream_idle: string; readonly websocket_ping: string }
}

/** The models and providers of one configuration. */
export interface Catalog {
  readonly models: readonly ModelRecord[]
  /** Finds a model by name, by alias, as `provider/upstream_model`, or by a pattern that ends in `*`. */
  find(name: string): ModelRecord | undefined
  provider(name: string): OpenProvider | undefined
  /** File or address of a public list of prices and limits, as the configuration file has it. */
  readonly source?: string
  readonly settings: ServerSettings
}
