import { GatewayError } from '../../spec/error.ts'
import type { ErrorOptions, Failure } from '../../spec/error.ts'

/** Why an upstream refused the gateway: the first whose words its answer has. */
const kinds = [
  ['region', /countr|region|territor|jurisdiction|\blocation\b/i, 'it is not offered where the gateway runs'],
  [
    'billing',
    /billing|credit|payment|balance|insufficient.?(quota|funds)|past.?due|subscription/i,
    'the account of the gateway cannot pay',
  ],
  ['model_access', /model|deployment|organi[sz]ation must be verified/i, 'the gateway has no access to this model'],
] as const

/** Most characters of an upstream's words in a row of the request log. */
const toldLimit = 512

/**
 * The error for an upstream's 401 or 403, which are about the gateway. Its client learns the kind of refusal alone:
 * `model_access`, `region`, `billing` or `credentials`. The upstream's words are facts, for the request log.
 */
export function refusedAccess(
  { status, code, type, message: told }: Pick<Failure, 'status' | 'code' | 'type' | 'message'>,
  model: string,
  options: ErrorOptions,
): GatewayError {
  // An upstream that does not know the key does not know what it may do.
  const words = status === 403 ? `${code ?? ''} ${type} ${told}` : ''
  const [kind, , why] = kinds.find(([, pattern]) => pattern.test(words)) ?? ['credentials']
  const message = why === undefined ? {} : { message: `The provider of "${model}" refused: ${why} (${kind}).` }
  return new GatewayError(
    'upstream_refused_key',
    { model, refusal: kind, told: told.slice(0, toldLimit) },
    { ...options, ...message },
  )
}
