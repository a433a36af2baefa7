import type { IncomingHttpHeaders } from 'node:http'

const scheme = 'bearer '

/** The token of `authorization: Bearer` (RFC 6750, section 2.1). The name of the scheme is case-insensitive. */
export function bearerToken({ authorization }: Pick<IncomingHttpHeaders, 'authorization'>): string | undefined {
  if (authorization?.slice(0, scheme.length).toLowerCase() !== scheme) return undefined
  return authorization.slice(scheme.length).trim()
}
