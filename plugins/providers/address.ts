/** Where a provider is asked: its base address, and the operations that live elsewhere. */
export interface Addresses {
  readonly base_url: string
  readonly endpoint_base_urls?: { readonly [key: string]: unknown } | undefined
}

/**
 * The full address of an operation. `key` is its word in `endpoint_base_urls`, `path` its path below a base.
 * A base without a path gets `/v1`. In `endpoint_base_urls`, an address without a path or with one that ends in `/v1`
 * is a base; any other is the full address of the operation. A query is kept.
 * Throws an `Error` that names the setting, never the address: it may hold credentials.
 */
export function addressOf(config: Addresses, key: string, path: string): URL {
  const moved = config.endpoint_base_urls?.[key]
  if (typeof moved !== 'string') return below(parsed(config.base_url, 'base_url'), path)
  const url = parsed(moved, `endpoint_base_urls.${key}`)
  return url.pathname === '/' || trimmed(url).endsWith('/v1') ? below(url, path) : url
}

function below(base: URL, path: string): URL {
  const url = new URL(base)
  url.pathname = (trimmed(base) || '/v1') + path
  return url
}

function trimmed(url: URL): string {
  return url.pathname.replace(/\/{1,64}$/, '')
}

function parsed(text: string, setting: string): URL {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    throw new Error(`${setting} must be an address that starts with https:// or http://`)
  }
  if (url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new Error(`${setting} must be an address without user, password and fragment`)
  }
  return url
}
