import { unescape } from 'node:querystring'
import { Agent, request } from 'undici'
import type { Dispatcher } from 'undici'
import { GatewayError } from '../../../engine/index.ts'
import { guardedLookup, isWithin, literalAddress } from '../../../engine/kit.ts'
import type { Lookup, Reach } from '../../../engine/kit.ts'
import { mediaTypeOf } from './media-type.ts'

/** Why a file was not fetched. The message reveals nothing about the response of an internal address. */
export class Unfetched extends Error {
  override readonly name = 'Unfetched'
}

export interface FetchedFile {
  readonly mediaType: string
  /** Base64. */
  readonly data: string
  /** The last segment of the URL's path; absent if there is none. */
  readonly filename?: string
}

export interface FetchRules {
  /** Also fetch from addresses of private networks, and from any port. */
  readonly privateAddresses: boolean
  /** Most bytes of one file. */
  readonly limit: number
  /** Most bytes of all files together. */
  readonly total: number
  readonly userAgent: string
  /** Called with the number of bytes received. A `GatewayError` thrown here aborts the fetch. */
  taken?(bytes: number): void
}

/** Link-local addresses are never allowed: clients name the files. */
function reachOf({ privateAddresses }: Pick<FetchRules, 'privateAddresses'>): Reach {
  return privateAddresses ? 'private' : 'public'
}

const redirectLimit = 3
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const unreachable = 'its host cannot be reached, or has no public address'

/**
 * Fetches files from URLs that clients sent. Only http and https are allowed. URLs with credentials are rejected, and
 * no credentials are sent. Only IP addresses that the rules allow are connected to; the check covers the very address that the socket
 * connects to. Redirects follow the same rules.
 */
export class FileFetcher {
  readonly #rules: FetchRules
  readonly #agent: Agent
  #left: number

  constructor(rules: FetchRules, lookup: Lookup) {
    this.#rules = rules
    this.#left = rules.total
    this.#agent = new Agent({
      connect: { lookup: guardedLookup(lookup, reachOf(rules)) },
      allowH2: false,
      // Connections are not reused: the files of one request seldom come from the same host.
      pipelining: 0,
      maxHeaderSize: 16 * 1024,
      // Only the signal limits the time.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** Rejects with `Unfetched`, with an error thrown by `taken`, or with the signal's reason when it is aborted. */
  async fetch(address: string, signal: AbortSignal): Promise<FetchedFile> {
    try {
      return await this.#follow(parse(address), signal)
    } catch (error) {
      signal.throwIfAborted()
      throw error instanceof Unfetched || error instanceof GatewayError
        ? error
        : new Unfetched(unreachable, { cause: error })
    }
  }

  /** Closes all connections at once. */
  close(): Promise<void> {
    return this.#agent.destroy()
  }

  async #follow(start: URL, signal: AbortSignal): Promise<FetchedFile> {
    let url = start
    for (let hops = 0; hops <= redirectLimit; hops++) {
      this.#check(url)
      const answer = await request(url, {
        dispatcher: this.#agent,
        signal,
        headers: { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': this.#rules.userAgent },
      })
      const { location } = answer.headers
      if (!redirects.has(answer.statusCode) || typeof location !== 'string') return await this.#take(answer, url)
      answer.body.on('error', ignored).destroy()
      url = parse(location, url)
    }
    throw new Unfetched(`it is redirected more than ${redirectLimit} times`)
  }

  #check(url: URL): void {
    const { protocol, username, password, port } = url
    const { privateAddresses } = this.#rules
    if (protocol !== 'http:' && protocol !== 'https:') throw new Unfetched('only http and https are fetched')
    if (username !== '' || password !== '') throw new Unfetched('an address with credentials is not fetched')
    // The default port of the scheme is an empty string.
    if (port !== '' && port !== '80' && port !== '443' && !privateAddresses)
      throw new Unfetched('only the ports 80 and 443 are fetched from')
    // Sockets call `lookup` only for host names, so a literal IP address is checked here.
    const address = literalAddress(url)
    if (address !== undefined && !isWithin(reachOf(this.#rules), address)) throw new Unfetched(unreachable)
  }

  async #take({ statusCode, headers, body }: Dispatcher.ResponseData, { pathname }: URL): Promise<FetchedFile> {
    try {
      if (statusCode !== 200)
        throw new Unfetched(this.#rules.privateAddresses ? 'it was refused' : `its server answered ${statusCode}`)
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding !== 'identity') throw new Unfetched('it is sent compressed, though that was not asked for')
      const bytes = await this.#read(body, Number(headers['content-length'] ?? 0))
      const filename = nameIn(pathname)
      const mediaType = mediaTypeOf(String(headers['content-type'] ?? ''), bytes, pathname)
      return { mediaType, data: bytes.toString('base64'), ...(filename === '' ? {} : { filename }) }
    } finally {
      body.on('error', ignored).destroy()
    }
  }

  async #read(body: AsyncIterable<Buffer>, declared: number): Promise<Buffer> {
    const { limit, total } = this.#rules
    let size = 0
    const check = (bytes: number) => {
      if (bytes > limit) throw new Unfetched(`it is larger than ${limit} bytes`)
    }
    check(declared)
    const chunks: Buffer[] = []
    for await (const chunk of body) {
      size += chunk.length
      check(size)
      this.#left -= chunk.length
      if (this.#left < 0) throw new Unfetched(`the files together are larger than ${total} bytes`)
      this.#rules.taken?.(chunk.length)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, size)
  }
}

/** The error of a connection that was closed because the rest is not needed. */
const ignored = () => undefined

function parse(address: string, base?: URL): URL {
  const url = URL.parse(address, base)
  if (!url) throw new Unfetched('it is no address')
  return url
}

/** The last segment of a path, percent-decoded if possible. */
function nameIn(pathname: string): string {
  return unescape(pathname.slice(pathname.lastIndexOf('/') + 1))
}
