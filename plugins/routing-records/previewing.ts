import { GatewayError } from '../../engine/index.ts'
import type { Dispatched, ErrorCode, JsonObject, Principal, Services, Slots } from '../../engine/index.ts'
import { asText, asking, isObject, isVirtual } from '../../engine/kit.ts'
import { shownPreview } from './shown-preview.ts'

/** A request to route without serving it. */
export interface Previewed {
  readonly protocol: string
  readonly body: JsonObject
  /** Path of the body, for errors. */
  readonly param: string
  readonly principal: Principal
  readonly preview: Preview
}

/** Who sends a request without a key: nobody whose models, budget or conversations would count. */
export const nobody: Principal = { kind: 'member', id: 'preview', name: 'preview' }

/** Runs the pipeline that routes. */
export type Route = (given: Readonly<Partial<Slots>>) => Promise<Dispatched>

/** Why a request for a virtual model is refused, though its body is right. */
const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  'allowlist_exhausted',
  'budget_exceeded',
  'configuration_error',
  'no_available_models',
  'price_unknown',
  'provider_off',
  'routing_constraints_unmet',
])

/**
 * Routes a request by the pipeline that routes every request. What is left of it is an object: the decision, or the error
 * by which the request would be refused. Rejects with the error for a body that its protocol refuses, and with
 * `invalid_field` for a model that is not virtual.
 */
export async function routed(
  route: Route,
  { protocol, body, param, principal, preview }: Previewed,
): Promise<JsonObject> {
  const model = asText(body['model'])
  if (!isVirtual(model))
    throw new GatewayError('invalid_field', { param: `${param}model`, reason: 'must be fast, auto or best' })
  const dispatched = await route({ ingress: asking({ protocol, body }), principal, preview })
  const { error, status } = dispatched.outcome
  if (error && !refusals.has(error.code)) {
    const wrong = fieldIn(dispatched)
    const options = { status, message: error.message, ...(wrong === undefined ? {} : { param: `${param}${wrong}` }) }
    throw new GatewayError(error.code as ErrorCode, {}, options)
  }
  return shownPreview(dispatched, model)
}

/** The field that the error of a protocol names; undefined: that protocol names none. */
function fieldIn({ reply }: Dispatched): string | undefined {
  const value = reply?.body.kind === 'json' ? reply.body.value : undefined
  const error = isObject(value) && isObject(value['error']) ? value['error'] : {}
  return typeof error['param'] === 'string' ? error['param'] : undefined
}

/**
 * Marks a request that is only routed, to see how it would be. Stages that route read it: they ask no judge, and neither
 * write state nor count what they chose.
 */
interface Preview {
  /** The settings to decide by, whole; absent: those that run. */
  readonly settings?: Services['smart_routing']['settings']
  /** In place of the seed of the settings. */
  readonly seed?: string
  /** In place of the id of the request. */
  readonly id?: string
}

declare module '../../engine/index.ts' {
  interface Slots {
    preview: Preview
  }
}
