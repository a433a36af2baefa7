import { parseJson } from '../../json/parse.ts'
import { GatewayError } from '../../spec/error.ts'
import { isObject } from '../../spec/json.ts'
import type { JsonObject } from '../../spec/json.ts'
import type { Scope } from '../../spec/scope.ts'
import { collect } from '../../stream/collect.ts'
import type { Hold } from '../../stream/byte-budget.ts'
import type { Http, Target } from './http.ts'
import type { KeyPool } from './key-pool.ts'

/** A list of models at a provider, in one page or several. */
export interface ModelList {
  /** Its path below the base address, with a query if it has one. */
  readonly path: string
  /** The address that it is below; default: that of the provider. */
  readonly base_url?: string
  /** The names on a page, undefined for a body that is no page; default: those of `{ data: [{ id }] }`. */
  readonly names?: (page: JsonObject) => readonly string[] | undefined
  /** The parameters that the address of the next page has besides; undefined after the last page. */
  readonly next?: (page: JsonObject) => Readonly<Record<string, string>> | undefined
}

/** The lists of an open provider, and how they are asked for. */
export interface Listing {
  readonly http: Http
  readonly pool: KeyPool | undefined
  readonly lists: readonly (ModelList & { readonly url: URL; readonly target: Target })[]
  /** Further header lines of a request. */
  readonly perList?: ((url: URL) => Promise<readonly string[]>) | undefined
}

/** Timeouts of requests that no client waits for, in milliseconds. */
const background = { firstByte: 30_000, idle: 10_000, total: 60_000 }
/** Maximum bytes of a page, and pages of a list. */
const pageLimit = 8 * 1024 * 1024
const pagesLimit = 100

/** The names of all models in the lists of a provider, each once. Rejects with the errors of its requests. */
export async function modelNames(listing: Listing, signal: AbortSignal, hold: Hold): Promise<readonly string[]> {
  const all = new Set<string>()
  for (const { url, target, names = idsOf, next } of listing.lists) {
    let at: URL | undefined = url
    for (let pages = 1; at; pages++) {
      if (pages > pagesLimit) throw unlisted(`its list has more than ${pagesLimit} pages`)
      // Each page names the next one.
      // oxlint-disable-next-line no-await-in-loop
      const page = await pageAt(at, target, { ...listing, signal, hold })
      const named = names(page)
      if (!named) throw unlisted('its answer has no list')
      for (const name of named) all.add(name)
      const more = next?.(page)
      at = more && withParameters(url, more)
    }
  }
  return [...all]
}

interface Asked extends Pick<Listing, 'http' | 'pool' | 'perList'> {
  readonly signal: AbortSignal
  readonly hold: Hold
}

async function pageAt(url: URL, target: Target, { http, pool, perList, signal, hold }: Asked): Promise<JsonObject> {
  const asking = { model: 'the model list', timeouts: background, scope: scopeOf(signal) }
  const signed = (await perList?.(url)) ?? []
  const page = { ...target, path: url.pathname + url.search }
  const ask = (lines: readonly string[] = []) => http.ask(page, 'GET', asking, [...lines, ...signed])
  const answer = await (pool ? pool.send(ask) : ask())
  const bytes = await collect(answer.body, pageLimit, hold)
  hold.release()
  if (answer.status !== 200) throw unlisted(`it answered with status ${answer.status}`, answer.status)
  try {
    const body = parseJson(bytes.toString())
    return isObject(body) ? body : {}
  } catch (cause) {
    throw unlisted('its answer is not JSON', answer.status, cause)
  }
}

function unlisted(reason: string, status = 200, cause?: unknown): GatewayError {
  const message = `The provider did not list its models: ${reason}.`
  return new GatewayError('upstream_invalid_response', { reason }, { cause, message, tags: [String(status)] })
}

function withParameters(url: URL, parameters: Readonly<Record<string, string>>): URL {
  const page = new URL(url)
  for (const [name, value] of Object.entries(parameters)) page.searchParams.set(name, value)
  return page
}

function idsOf({ data }: JsonObject): readonly string[] | undefined {
  if (!Array.isArray(data)) return undefined
  return data.flatMap((entry) => (isObject(entry) && typeof entry['id'] === 'string' ? [entry['id']] : []))
}

function scopeOf(signal: AbortSignal): Pick<Scope, 'onAbort'> {
  return {
    onAbort(listener) {
      const tell = () => listener(signal.reason as Error)
      if (signal.aborted) tell()
      else signal.addEventListener('abort', tell, { once: true })
      return () => signal.removeEventListener('abort', tell)
    },
  }
}
