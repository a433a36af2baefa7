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
 * Whether files may be fetched from an IP address: a public one by the IANA special-purpose registries (RFC 6890), or,
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
        callback(new Error('an address of the host is not allowed'), '')
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
}
