import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import type { ServiceConfiguration } from '../../engine/index.ts'
import type { McpSecurity } from './mcp-security.ts'

type Settings = Pick<McpSecurity, 'allowed_hosts' | 'allowed_origins'>

/** Names of the machine itself, as a URL has them. No page from elsewhere can have one of them. */
const loopback = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/** Addresses that stand for every address of the machine. */
const anyAddress: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * The names under which clients may reach MCP servers, and the origins of the pages that may: those of the gateway's
 * own address, of this machine, and of the settings. With any other name, a page could reach a gateway within its
 * visitor's network (DNS rebinding).
 */
export class OwnAddresses {
  /** `name:port`, or a name for every port. */
  readonly #hosts: ReadonlySet<string>
  readonly #origins: ReadonlySet<string>

  constructor(listen: ServiceConfiguration['listen'], { allowed_hosts: hosts, allowed_origins: origins }: Settings) {
    const own = ownUrls(listen)
    this.#hosts = new Set([...own.map(hostOf), ...hosts.map((host) => host.toLowerCase())])
    this.#origins = new Set([
      ...own.map(({ origin }) => origin),
      ...origins.map((one) => URL.parse(one)?.origin ?? one),
    ])
  }

  /** @param host value of the header `host` */
  admitsHost(host: string): boolean {
    const url = URL.parse(`http://${host}`)
    if (!url || url.username !== '' || url.pathname !== '/' || url.search !== '' || url.hash !== '') return false
    return loopback.test(url.hostname) || this.#hosts.has(url.hostname) || this.#hosts.has(hostOf(url))
  }

  /** @param origin value of the header `origin` */
  admitsOrigin(origin: string): boolean {
    const url = URL.parse(origin)
    if (!url || url.origin === 'null' || url.origin !== origin.toLowerCase()) return false
    return loopback.test(url.hostname) || this.#origins.has(url.origin)
  }
}

/** A name with its port, also where a URL leaves the usual one out. */
function hostOf({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port === '' ? (protocol === 'https:' ? 443 : 80) : port}`
}

function ownUrls({ host, port, url }: ServiceConfiguration['listen']): readonly URL[] {
  if (url !== undefined) return [new URL(url)]
  const addresses = anyAddress.has(host) ? machineAddresses() : [host]
  return addresses.flatMap(
    (address) => URL.parse(`http://${isIP(address) === 6 ? `[${address}]` : address}:${port}`) ?? [],
  )
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list = []) => list.map(({ address }) => address))
}
