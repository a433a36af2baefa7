import { Refusal } from '../../spec/error.ts'

/** Where requests to a provider go: its base address, and operations served at other addresses. */
export interface Addresses {
  readonly base_url: string
  readonly endpoint_base_urls?: { readonly [key: string]: unknown } | undefined
}

/**
 * The full address of an operation. `key` is its name in `endpoint_base_urls`, `path` its path below a base, with a
 * query if it has one. A base without a path gets `prefix`. In `endpoint_base_urls`, an address without a path, or with
 * a path that ends in `/v1`, is a base; any other is the full address of the operation. A query is kept. Throws a
 * `Refusal` that names the setting, never the address: the address may hold credentials.
 */
export function addressOf(config: Addresses, key: string, path: string, prefix = '/v1'): URL {
  const moved = config.endpoint_base_urls?.[key]
  if (typeof moved !== 'string') return below(parsed(config.base_url, 'base_url'), path, prefix)
  const url = parsed(moved, 'endpoint_base_urls', key)
  return url.pathname === '/' || trimmed(url).endsWith('/v1') ? below(url, path, prefix) : url
}

function below(base: URL, path: string, prefix: string): URL {
  const url = new URL(base)
  const [own = '', query] = path.split('?', 2)
  url.pathname = (trimmed(base) || prefix) + own
  if (query !== undefined) url.search += (url.search === '' ? '' : '&') + query
  return url
}

function trimmed(url: URL): string {
  return url.pathname.replace(/\/{1,64}$/, '')
}

/**
 * Refuses a base address that is the full address of an operation, that is, ends in one of the `paths` of operations.
 */
export function refuseFullAddress(base: string, paths: readonly string[]): void {
  const path = trimmed(parsed(base, 'base_url'))
  const [end] = paths.filter((one) => path.endsWith(one)).sort((left, right) => right.length - left.length)
  if (end === undefined) return
  const message = `base_url must be what comes before "${end}"; where one operation lives elsewhere, say so in endpoint_base_urls`
  throw new Refusal(message, ['base_url'])
}

function parsed(text: string, ...place: readonly string[]): URL {
  const setting = place.join('.')
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Refusal(`${setting} must be an address that starts with https:// or http://`, place)
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new Refusal(`${setting} must be an address without user, password and fragment`, place)
  }
  return url
}

/** The server at an address, as calls are told. */
export function serverAt({ hostname, port, protocol }: URL): { readonly address: string; readonly port: number } {
  const usual = protocol === 'https:' || protocol === 'wss:' ? 443 : 80
  return { address: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) }
}
