import type { Candidate, Envelope, Host, Services } from '../../engine/index.ts'
import { searchPolicy } from './search-policy.ts'

/**
 * Whether a request takes the byte lane: the bytes of the client, or of a rewritten request, go unchanged to a provider
 * of the same protocol. The translation lane is needed if the bytes are incomplete and this provider does not hold the
 * rest, if they contain a seal that only the gateway can open, or if the operator's policies change the request.
 */
export function byteLane(
  host: Host,
  searches: Services['web_search'],
): (request: Envelope, candidate: Candidate) => boolean {
  const policy = searchPolicy(searches)
  return (request, candidate) => {
    if (candidate.offer.protocol !== request.protocol) return false
    const { request: printing } = host.codec(request.protocol)
    // Without a printer there is no other lane.
    if (!printing) return true
    if ((!request.exact && !holds(candidate, request)) || request.sealed) return false
    return policy === undefined || printing.searches?.(request.body) !== true
  }
}

/** Whether the provider has the earlier conversation itself, and is to continue from its own copy. */
function holds({ origin, offer }: Candidate, { heldBy }: Envelope): boolean {
  return heldBy === origin && offer.traits?.['conversations'] === 'vendor'
}
