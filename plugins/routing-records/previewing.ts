import { GatewayError } from '../../engine/index.ts'
import type { Dispatched, ErrorCode, JsonObject, Principal, Slots } from '../../engine/index.ts'
import { asText, asking, isVirtual } from '../../engine/kit.ts'
import type { Preview } from './preview.ts'
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
  if (error && !refusals.has(error.code))
    throw new GatewayError(error.code as ErrorCode, {}, { status, message: error.message })
  return shownPreview(dispatched, model)
}
