import { Refusal } from '../../engine/index.ts'

/** Where a provider is asked: its base address, and the operations that live elsewhere. */
export interface Addresses {
  readonly base_url: string
  readonly endpoint_base_urls?: { readonly [key: string]: unknown } | undefined
}

/**
 * The full address of an operation. `key` is its word in `endpoint_base_urls`, `path` its path below a base.
 * A base without a path gets `/v1`. In `endpoint_base_urls`, an address without a path or with one that ends in `/v1`
 * is a base; any other is the full address of the operation. A query is kept.
 * Throws a `Refusal` that names the setting, never the address: it may hold credentials.
 */
export function addressOf(config: Addresses, key: string, path: string): URL {
  const moved = config.endpoint_base_urls?.[key]
  if (typeof moved !== 'string') return below(baseOf(config.base_url), path)
  const url = parsed(moved, 'endpoint_base_urls', key)
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

/** Ends of addresses that are those of one operation. */
const operation =
  /\/(chat\/completions|completions|responses|messages|embeddings|images\/\w{1,32}|audio\/\w{1,32}|decisions|mapeval|models)\/?$/

function baseOf(text: string): URL {
  const url = parsed(text, 'base_url')
  const [end] = operation.exec(url.pathname) ?? []
  if (end === undefined) return url
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
