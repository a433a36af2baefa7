import type { Candidate, Envelope, Host, Services } from '../../engine/index.ts'
import { searchPolicy } from './search-policy.ts'

/**
 * Whether a request takes the byte lane: the client's bytes, or those of a request that was rewritten, go to a provider
 * of the same protocol as they are. They do not where they say less than the request, unless this provider holds what is
 * missing; where they hold a seal that only the gateway can read; and where the operator changes what they ask for.
 */
export function byteLane(
  host: Host,
  searches: Services['web_search'],
): (request: Envelope, candidate: Candidate) => boolean {
  const policy = searchPolicy(searches)
  return (request, candidate) => {
    if (candidate.offer.protocol !== request.protocol) return false
    const { request: printing } = host.codec(request.protocol)
    // Nothing else could print it.
    if (!printing) return true
    if ((!request.exact && !holds(candidate, request)) || request.sealed) return false
    return policy === undefined || printing.searches?.(request.body) !== true
  }
}

/** Whether the provider knows by itself what the request was completed with, and is to go on from what it knows. */
function holds({ origin, offer }: Candidate, { heldBy }: Envelope): boolean {
  return heldBy === origin && offer.traits?.['conversations'] === 'vendor'
}
