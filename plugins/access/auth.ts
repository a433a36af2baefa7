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
      const shown = [bearer(headers.authorization), single(headers['x-api-key'])].filter(isKey)
      if (shown.length === 0) throw new GatewayError('invalid_api_key', {}, { message: missing })
      for (const text of shown) {
        const principal = keys.find(text)
        if (principal !== undefined) return { principal }
      }
      return searched(keys, shown)
    }
  },
})

const missing = 'No API key was sent. Send it as "authorization: Bearer <key>" or as "x-api-key: <key>".'

/** Looks where keys may have been made that are not known yet. */
async function searched(keys: Keys, shown: readonly string[]): Promise<{ principal: Principal }> {
  for (const text of shown) {
    const principal = await keys.search(text)
    if (principal !== undefined) return { principal }
  }
  throw new GatewayError('invalid_api_key')
}

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

function isKey(text: string | undefined): text is string {
  return text !== undefined && text !== ''
}
