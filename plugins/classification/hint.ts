import type { Catalog, Envelope, Tier } from '../../engine/index.ts'
import { GatewayError } from '../../engine/index.ts'
import { isObject, tierRanges } from '../../engine/kit.ts'

const classes: Readonly<Record<string, Tier>> = { economy: 'SIMPLE', balanced: 'MEDIUM', premium: 'COMPLEX' }

/**
 * The complexity that a client hints at, in the field `routing.hint` or the header `x-routing-hint`: by a tier, or by
 * a model of the class that it wants. Throws `invalid_value` for another word.
 */
export function hintOf({ body, headers }: Pick<Envelope, 'body' | 'headers'>, catalog: Catalog): number | undefined {
  const { routing } = body
  const field = isObject(routing) ? (routing['hint'] ?? undefined) : undefined
  const header = headers['x-routing-hint']
  if (field !== undefined) return complexityOf(field, 'routing.hint', catalog)
  return header === undefined ? undefined : complexityOf(header, 'x-routing-hint', catalog)
}

function complexityOf(hint: unknown, param: string, catalog: Catalog): number {
  const tier = typeof hint === 'string' ? hint.toUpperCase() : ''
  if (Object.hasOwn(tierRanges, tier)) return tierRanges[tier as Tier].centre
  const model = typeof hint === 'string' ? catalog.find(hint) : undefined
  if (!model) {
    const reason = 'it must be SIMPLE, MEDIUM, COMPLEX, or the name of a model'
    throw new GatewayError('invalid_value', { param, reason }, { param })
  }
  return tierRanges[classes[model.quality_tier ?? 'economy'] ?? 'SIMPLE'].centre
}
