import type { IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import type * as koaRouter from 'koa-router'
import { clientCodec, speaksToClients } from '../config/speaking.ts'
import type { AnyClientCodec } from '../spec/codec.ts'
import { GatewayError } from '../spec/error.ts'
import { didYouMean } from '../config/suggest.ts'
import type { ServedConfiguration } from './configuration-source.ts'
import type { Route } from '../pipeline/nodes.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'

// Imported as a module, it would evaluate all exports of `node:http`, among them `fetch` with its dependencies.
const { Router } = createRequire(import.meta.url)('koa-router') as typeof koaRouter

/** The result of routing a request: an endpoint, or an error in the protocol of the route nearest to its path. */
export type Matched = Endpoint | { readonly error: GatewayError; readonly codec: AnyClientCodec | undefined }

export interface Endpoint {
  readonly pipeline: CompiledPipeline
  readonly codec: AnyClientCodec | undefined
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** Whether the path is a further address of a route that is written elsewhere. */
  readonly alias: boolean
}

/** What routing needs of a request. */
export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: IncomingHttpHeaders
}

export interface Routes {
  /** A WebSocket upgrade has the method `WS`. */
  match(asked: Asked): Matched
  /** Whether a request goes to a path without parameters whose pipeline speaks a protocol. */
  speaks(asked: Asked): boolean
}

const known = new WeakMap<ServedConfiguration, Routes>()

/** The routes of a snapshot, compiled once. */
export function routesOf(snapshot: ServedConfiguration): Routes {
  let routes = known.get(snapshot)
  if (!routes) known.set(snapshot, (routes = createRoutes(snapshot)))
  return routes
}

/**
 * The routes of a snapshot. Paths are case-sensitive; one trailing slash is accepted. If several routes match, one
 * without `*` wins over those with it, and among the latter the longest wins. A route `/*` gets what is left, unless
 * the path's first segment is that of a route: a mistake in such a path is told to its client. It is for people, so it
 * is also preferred to an alias by clients that ask for HTML, and none that accepts only other types gets it.
 */
function createRoutes(snapshot: ServedConfiguration): Routes {
  const router = new Router({ sensitive: true, strict: false })
  // Most requests go to a path without parameters, which is found without matching patterns.
  const fixed = new Map<string, Map<string, Endpoint>>()
  const endpoints = new Map<string, Endpoint>()
  const speaking = [...snapshot.registry.codecs.values()].filter(speaksToClients)
  const marked = speaking.flatMap((codec) =>
    codec.clientHeader === undefined ? [] : [{ header: codec.clientHeader, codec }],
  )
  const below: Route[] = []
  const left = new Map<string, Endpoint>()
  const begun = new Set<string>()
  const register = ({ method, path }: Route) => {
    const pattern = path.replace('*:', '*rest\\:').replace(/\*$/, '*rest')
    router.register(pattern, [method], () => undefined, { name: `${method} ${path}` })
  }
  for (const pipeline of snapshot.pipelines.values()) {
    const codec = pipeline.protocol === undefined ? undefined : clientCodec(snapshot.registry.codecs, pipeline.protocol)
    for (const route of pipeline.routes) {
      const { method, path } = route
      const endpoint = { pipeline, codec, path, params: {}, alias: route.alias !== undefined }
      if (path === '/*') {
        left.set(method, endpoint)
        continue
      }
      endpoints.set(`${method} ${path}`, endpoint)
      if (!endpoint.alias) begun.add(path.split('/', 2)[1] ?? '')
      if (path.includes('*')) below.push(route)
      else register(route)
      if (!/[:*]/.test(path)) fixed.set(method, (fixed.get(method) ?? new Map<string, Endpoint>()).set(path, endpoint))
    }
  }
  below.sort((one, other) => other.path.length - one.path.length).forEach(register)
  const remaining = ({ method, path, headers }: Asked, found: Matched): Endpoint | undefined => {
    const endpoint = left.get(method === 'HEAD' && !left.has(method) ? 'GET' : method)
    if (!endpoint || path.startsWith('//') || begun.has(path.split('/', 2)[1] ?? '')) return undefined
    const accepted = headers?.accept ?? '*/*'
    const wanted = 'error' in found ? /text\/html|\*\/\*/ : /text\/html/
    return wanted.test(accepted) ? { ...endpoint, params: { '*': path.slice(1) } } : undefined
  }
  const exact = (method: string, path: string) => {
    const paths = fixed.get(method)
    return paths?.get(path) ?? (path.endsWith('/') ? paths?.get(path.slice(0, -1)) : undefined)
  }
  return {
    speaks: ({ method, path }) => exact(method, path)?.codec !== undefined,
    match(asked) {
      const { method, path, headers } = asked
      const found = exact(method, path) ?? search(router, endpoints, method, path)
      const yields = 'error' in found ? found.error.code === 'not_found' : found.alias
      const other = yields && left.size > 0 ? remaining(asked, found) : undefined
      if (other) return other
      return found.codec
        ? found
        : { ...found, codec: marked.find(({ header }) => headers?.[header] !== undefined)?.codec }
    },
  }
}

function search(
  router: koaRouter.Router,
  endpoints: ReadonlyMap<string, Endpoint>,
  method: string,
  path: string,
): Matched {
  const { pathAndMethod, path: samePath } = router.match(path, method)
  const layer = pathAndMethod[0]
  const endpoint = layer && endpoints.get(layer.name ?? '')
  if (layer && endpoint) {
    const { rest, ...params } = layer.params(path, layer.captures(path))
    const below = endpoint.path.includes('*')
    return { ...endpoint, params: rest === undefined ? params : { ...params, [below ? '*' : 'rest']: rest } }
  }
  // One that is served by other methods has the protocol of these.
  const served = samePath.map(({ name }) => endpoints.get(name ?? '')).find((endpoint) => endpoint !== undefined)
  const { codec } = served ?? nearest(endpoints, path) ?? {}
  if (samePath.length === 0) return { error: nothingAt(method, path, endpoints), codec }
  const methods = new Set(samePath.flatMap(({ methods }) => methods))
  if (methods.delete('WS') && (method === 'GET' || methods.size === 0))
    return { error: new GatewayError('upgrade_required', { path: path.slice(0, 256), upgrade: 'websocket' }), codec }
  const allow = [...methods].join(', ')
  return { error: new GatewayError('method_not_allowed', { method, path: path.slice(0, 256), allow }), codec }
}

/** Maximum length of a path that is quoted, and compared with the paths of routes. */
const longestPath = 256

function nothingAt(method: string, path: string, endpoints: ReadonlyMap<string, Endpoint>): GatewayError {
  const shown = path.slice(0, longestPath)
  const all = [...endpoints.values()]
  // Only the first address of each pipeline is suggested: its aliases are for clients with unusual base URLs.
  const first = new Set(
    all.flatMap(({ pipeline }) => pipeline.routes.filter(({ alias }) => !alias).map((route) => route.path)),
  )
  const hint =
    path.length > longestPath
      ? ''
      : didYouMean(path, first) || didYouMean(path, new Set(all.map((endpoint) => endpoint.path)))
  const message = hint === '' ? {} : { message: `Nothing is served at ${method} ${shown}${hint}` }
  return new GatewayError('not_found', { method, path: shown }, message)
}

/** The endpoint that shares the most leading segments with `path`: a client that missed it speaks its protocol. */
function nearest(endpoints: ReadonlyMap<string, Endpoint>, path: string): Endpoint | undefined {
  const wanted = path.split('/')
  let best: Endpoint | undefined
  // `/v1` alone does not identify a protocol.
  let most = 2
  for (const endpoint of endpoints.values()) {
    const have = endpoint.path.split('/')
    let shared = 0
    while (shared < have.length && have[shared] === wanted[shared]) shared++
    if (shared > most) [best, most] = [endpoint, shared]
  }
  return best
}
