import { lookup as resolve } from 'node:dns/promises'
import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { GatewayError } from '../spec/error.ts'

/** Resolves a name to all its addresses, as `dns.lookup` does. */
export type Lookup = (
  name: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

/**
 * How far connections may go: to public addresses by the IANA special-purpose registries (RFC 6890), into private
 * networks as well, or also to link-local addresses and to those where clouds serve their own machines.
 */
export type Reach = 'public' | 'private' | 'any'

const order: readonly Reach[] = ['public', 'private', 'any']

/** The global unicast range of IPv6 that is in use (RFC 4291, section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Where a machine reaches its own host or its cloud, which hands out credentials there: link-local addresses, and
 * those that clouds have chosen in other ranges. A network may put the IPv4 address at any bytes of an address of its
 * own NAT64 prefix (RFC 8215, RFC 6052 2.2), so that all of these count.
 */
const platform = [
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:42::42/128',
  'fd00:c1::a9fe:a9fe/128',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  '64:ff9b:1::/48',
].map((range) => ipaddr.parseCIDR(range))

/**
 * Ranges of IPv6 whose addresses lead to the IPv4 address at an offset of bytes (RFC 4291 2.5.5, 7915, 6052, 3056).
 */
const embedding = (
  [
    ['::/96', 12],
    ['::ffff:0:0:0/96', 12],
    ['64:ff9b::/96', 12],
    ['2002::/16', 2],
  ] as const
).map(([range, offset]) => ({ range: ipaddr.IPv6.parseCIDR(range), offset }))

/** The reach that connections to an IP address need. An IPv4-mapped IPv6 address counts as its IPv4 address. */
export function reachTo(address: string): Reach {
  if (isIP(address) === 0) return 'any'
  const parsed = ipaddr.process(address)
  if (isPlatform(parsed) || embedded(parsed).some(isPlatform)) return 'any'
  // An address outside all named ranges counts as `unicast`, even in unassigned ranges of IPv6.
  const isAssigned = parsed.kind() === 'ipv4' || parsed.match(globalUnicast)
  return parsed.range() === 'unicast' && isAssigned ? 'public' : 'private'
}

type Address = ReturnType<typeof ipaddr.process>

function isPlatform(address: Address): boolean {
  return platform.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits))
}

/** The IPv4 addresses to which an IPv6 address leads. */
function embedded(address: Address): readonly Address[] {
  if (address.kind() === 'ipv4') return []
  const bytes = address.toByteArray()
  return embedding
    .filter(({ range }) => address.match(range))
    .map(({ offset }) => ipaddr.fromByteArray(bytes.slice(offset, offset + 4)))
}

/** Whether connections that may go as far as `reach` may go to an IP address. */
export function isWithin(reach: Reach, address: string): boolean {
  return order.indexOf(reachTo(address)) <= order.indexOf(reach)
}

/**
 * A `lookup` for sockets that fails unless every address of a name is within `reach`. The socket connects to one of
 * exactly these addresses, so that DNS rebinding has no effect.
 */
export function guardedLookup(lookup: Lookup, reach: Reach): LookupFunction {
  return (name, options, callback) =>
    lookup(name, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      if (error) callback(error, '')
      else if (!first || !addresses.every(({ address }) => isWithin(reach, address))) callback(notAllowed(), '')
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

/** Whether a URL names an address to which only `allow_link_local` leads. */
export function isLinkLocal(url: URL): boolean {
  const literal = literalAddress(url)
  return literal !== undefined && reachTo(literal) === 'any'
}

/** Maximum milliseconds for resolving a name. */
const deadline = 5_000

/**
 * The reach that connections to a URL need. A name that cannot be resolved in time counts as public: connections to it
 * are checked again.
 */
export async function reachToHost(url: URL): Promise<Reach> {
  const literal = literalAddress(url)
  if (literal !== undefined) return reachTo(literal)
  const { promise: late, resolve: giveUp } = Promise.withResolvers<readonly never[]>()
  const timer = setTimeout(giveUp, deadline, [])
  const found = await Promise.race([resolve(url.hostname, { all: true }).catch(() => []), late])
  clearTimeout(timer)
  const needed = found.map(({ address }) => order.indexOf(reachTo(address)))
  return order[Math.max(0, ...needed)] ?? 'any'
}

/**
 * Throws `private_address` for a record that is made at run time, with an address beyond its reach.
 * @param param the field of the address
 */
export async function refuseBeyond(reach: 'public' | 'private', url: URL, param: string): Promise<void> {
  const needed = await reachToHost(url)
  if (order.indexOf(needed) <= order.indexOf(reach)) return
  const message = `${param} is a link-local address, or one where a cloud serves its machines; only the configuration file can allow it, with allow_link_local.`
  throw new GatewayError('private_address', { param }, { param, ...(needed === 'any' ? { message } : {}) })
}

/** Throws for a record that is made at run time, and allows what the file alone may allow. */
export function refuseLinkLocal(value: { readonly allow_link_local?: unknown }): void {
  if (value.allow_link_local !== true) return
  const param = 'allow_link_local'
  throw new GatewayError('invalid_field', { param, reason: 'can be set in the configuration file alone' }, { param })
}
