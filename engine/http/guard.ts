import type { IncomingMessage } from 'node:http'

/** Headers that may occur once: given two, proxies and servers choose differently. */
const single = new Set(['host', 'authorization', 'x-api-key', 'x-goog-api-key', 'content-type'])

/**
 * Detects requests that Node's parser accepts although proxies read them differently (request smuggling): a repeated
 * header that may occur once, no host, chunked encoding in HTTP/1.0, an absolute-form target, a fragment in the
 * target. Returns the reason, or undefined.
 */
export function suspicious(request: IncomingMessage): string | undefined {
  const { rawHeaders, httpVersionMinor, httpVersionMajor, headers, url = '' } = request
  if (httpVersionMajor !== 1) return 'it is no HTTP/1'
  if (httpVersionMinor === 0 && headers['transfer-encoding'] !== undefined) return 'HTTP/1.0 knows no transfer encoding'
  if (headers.host === undefined && httpVersionMinor !== 0) return 'it has no host header'
  if (!url.startsWith('/')) return 'the target must begin with a slash'
  if (url.includes('#')) return 'the target holds a fragment'
  // Only the raw headers show a repeated header: their list is then longer than the parsed one.
  if (rawHeaders.length / 2 === Object.keys(headers).length) return undefined
  const seen = new Set<string>()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] as string).toLowerCase()
    if (seen.has(name) && single.has(name)) return `it has two ${name} headers`
    seen.add(name)
  }
  return undefined
}
