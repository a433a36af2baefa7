import { lookup as resolve } from 'node:dns/promises'
import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type Lookup = (
  name: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const publicRanges: ReadonlySet<string> = new Set(['unicast'])
/** Ranges of an operator's own network. Link-local addresses are excluded: cloud hosts serve credentials there. */
const privateRanges: ReadonlySet<string> = new Set(['unicast', 'private', 'loopback', 'uniqueLocal', 'carrierGradeNat'])
/** The global unicast range of IPv6 that is in use (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** A public address by which the machines of a cloud reach their own host. */
const platform = '168.63.129.16'

/**
 * Whether the gateway may connect to an IP address: a public one by the IANA special-purpose registries (RFC 6890), or,
 * with `privateToo`, one of a private network. An IPv4-mapped IPv6 address counts as its IPv4 address.
 */
export function allowedAddress(address: string, privateToo: boolean): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  // An address outside all named ranges counts as `unicast`, even in unassigned ranges of IPv6.
  if (range === 'unicast' && parsed.kind() === 'ipv6' && !parsed.match(globalUnicast)) return false
  return parsed.toString() !== platform && (privateToo ? privateRanges : publicRanges).has(range)
}

/**
 * A `lookup` for sockets that fails unless every address of a name is allowed. The socket connects to one of exactly
 * these addresses, so that DNS rebinding has no effect.
 */
export function guardedLookup(lookup: Lookup, privateToo: boolean): LookupFunction {
  return (name, options, callback) =>
    lookup(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error) callback(error, '')
      else if (!first || !addresses.every(({ address }) => allowedAddress(address, privateToo)))
        callback(notAllowed(), '')
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
}

/** The error of a connection to an address that is not allowed. */
export function notAllowed(): Error {
  return Object.assign(new Error('an address of the host is not allowed'), { code: 'ERR_ADDRESS_NOT_ALLOWED' })
}

/** The IP address that a URL names without a host name. */
export function literalAddress({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? undefined : host
}

/** Maximum milliseconds for resolving a name. */
const deadline = 5_000

/**
 * Whether a URL names public addresses only. A name that cannot be resolved in time counts as public: connections to it
 * are checked again.
 */
export async function isPublicHost(url: URL): Promise<boolean> {
  const literal = literalAddress(url)
  if (literal !== undefined) return allowedAddress(literal, false)
  const { promise: late, resolve: giveUp } = Promise.withResolvers<readonly never[]>()
  const timer = setTimeout(giveUp, deadline, [])
  const found = await Promise.race([resolve(url.hostname, { all: true }).catch(() => []), late])
  clearTimeout(timer)
  return found.every(({ address }) => allowedAddress(address, false))
}
