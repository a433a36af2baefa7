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
/** What an operator's own network may use besides. Link-local addresses stay out: hosts keep their credentials there. */
const privateRanges: ReadonlySet<string> = new Set(['unicast', 'private', 'loopback', 'uniqueLocal', 'carrierGradeNat'])
/** All of IPv6 that is given out to be reached from anywhere (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** An address among the public ones that a cloud's machines reach their own host by. */
const platform = '168.63.129.16'

/**
 * Whether files may be fetched from an address: a public one by the IANA special-purpose registries (RFC 6890), or with
 * `privateToo` one of a private network. An IPv4 address mapped into IPv6 counts as itself.
 */
export function allowedAddress(address: string, privateToo: boolean): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  // What is in no range by name counts as `unicast`, of IPv6 also where nothing is assigned yet.
  if (range === 'unicast' && parsed.kind() === 'ipv6' && !parsed.match(globalUnicast)) return false
  return parsed.toString() !== platform && (privateToo ? privateRanges : publicRanges).has(range)
}

/**
 * A `lookup` for sockets that fails unless every address of a name is allowed. The socket connects to one of just these
 * addresses, so that a name that is resolved differently a moment later gains nothing.
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
