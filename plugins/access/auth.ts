import { GatewayError, defineStage } from '../../engine/index.ts'
import type { Ingress, Keys, Principal } from '../../engine/index.ts'

/**
 * Finds out who asks, by the API key in `authorization: Bearer` or `x-api-key`; with both, the first that is valid
 * counts. A key in the query is never read: addresses end up in logs.
 */
export default defineStage({
  name: 'auth',
  summary: 'Find out who asks, or refuse.',
  config: {
    type: 'object',
    additionalProperties: false,
    properties: {
      with: { enum: ['key'], default: 'key', description: 'What the client shows: an API key.' },
    },
  } as const,
  needs: ['ingress'],
  provides: ['principal'],
  build: (_, { keys }) => {
    return ({ ingress: { headers } }) => {
      const principal = find(keys, bearer(headers.authorization)) ?? find(keys, single(headers['x-api-key']))
      if (principal === undefined) throw new GatewayError('invalid_api_key')
      return { principal }
    }
  },
})

const BEARER = 'bearer '

/** The token of RFC 6750, section 2.1; the scheme's name is in any case. */
function bearer(header: Ingress['headers']['authorization']): string | undefined {
  if (header === undefined || header.slice(0, BEARER.length).toLowerCase() !== BEARER) return undefined
  return header.slice(BEARER.length).trim()
}

/** The one value of a header; of several, none is better than another. */
function single(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function find(keys: Keys, text: string | undefined): Principal | undefined {
  return text === undefined ? undefined : keys.find(text)
}
