import { GatewayError } from '../../engine/index.ts'
import type { Envelope, Json, JsonObject } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'

/** The quality tiers of models, in ascending order. */
export const qualityTiers = ['economy', 'balanced', 'premium'] as const

export type QualityTier = (typeof qualityTiers)[number]

/** What a request says about how it is to be routed: in the field `routing` of its body, or in headers. */
export interface RoutingPreferences {
  /** Names, aliases and patterns of the only models that may serve; undefined: all. */
  readonly allow: readonly string[] | undefined
  /** Names, aliases and patterns of models that may not serve. */
  readonly deny: readonly string[]
  readonly minQualityTier: QualityTier | undefined
  /** Most milliseconds until answers usually begin. */
  readonly maxLatency: number | undefined
}

declare module '../../engine/index.ts' {
  interface Slots {
    /** What a request for a virtual model says about how it is to be routed. */
    preferences: RoutingPreferences
  }
}

/** Fields of `routing`. The limit of costs holds for any model, and signals read the hint. */
const fields = ['allow', 'deny', 'min_quality_tier', 'max_latency_ms', 'max_cost', 'hint', 'conversation']

/** Most names in a list, and most characters of a text. */
const most = { names: 500, text: 256 }

/** Throws `invalid_value` for a preference without a meaning. The field of the body wins over a header. */
export function preferencesOf({ body, headers }: Envelope): RoutingPreferences {
  const { routing = null } = body
  if (routing !== null && !isObject(routing)) refuse('routing', 'it must be an object')
  const given: JsonObject = routing ?? {}
  const unknown = Object.keys(given).find((field) => !fields.includes(field))
  if (unknown !== undefined)
    refuse(`routing.${unknown.slice(0, 64)}`, `there is no such field; use ${fields.join(', ')}`)
  checkText(given['conversation'], 'routing.conversation')
  checkText(headers['x-conversation-id'], 'x-conversation-id')
  return {
    allow: namesIn(given['allow'], 'routing.allow'),
    deny: namesIn(given['deny'], 'routing.deny') ?? [],
    minQualityTier: qualityTierIn(given['min_quality_tier']),
    maxLatency: latencyIn(given['max_latency_ms']),
  }
}

function namesIn(value: Json = null, param: string): readonly string[] | undefined {
  if (value === null) return undefined
  if (Array.isArray(value) && value.length <= most.names && value.every((name: Json) => typeof name === 'string'))
    return value
  return refuse(param, `it must be a list of at most ${most.names} names of models`)
}

function qualityTierIn(value: Json = null): QualityTier | undefined {
  if (value === null) return undefined
  return (
    qualityTiers.find((one) => one === value) ??
    refuse('routing.min_quality_tier', `it must be one of ${qualityTiers.join(', ')}`)
  )
}

function latencyIn(value: Json = null): number | undefined {
  if (value === null) return undefined
  return typeof value === 'number' && value > 0
    ? value
    : refuse('routing.max_latency_ms', 'it must be a number above 0')
}

function checkText(value: Json = null, param: string): void {
  if (value === null || (typeof value === 'string' && value !== '' && value.length <= most.text)) return
  refuse(param, `it must be a text of 1 to ${most.text} characters`)
}

function refuse(param: string, reason: string): never {
  throw new GatewayError('invalid_value', { param, reason })
}
