import { Router } from 'koa-router'
import type { Context } from 'koa'
import type { AnyCodec } from '../spec/codec.ts'
import { GatewayError } from '../spec/error.ts'
import type { Snapshot } from '../live/snapshot.ts'
import type { CompiledPipeline } from '../pipeline/run.ts'

/** Where a request goes: to a pipeline, or back with an error in the dialect of the routes nearest to its path. */
export type Matched =
  | {
      readonly pipeline: CompiledPipeline
      readonly codec: AnyCodec | undefined
      readonly path: string
      readonly params: Readonly<Record<string, string>>
    }
  | { readonly error: GatewayError; readonly codec: AnyCodec | undefined }

export interface Routes {
  match(context: Context): Matched
}

interface Endpoint {
  readonly pipeline: CompiledPipeline
  readonly codec: AnyCodec | undefined
  readonly path: string
}

/** The routes of a snapshot. Paths are case-sensitive; one trailing slash is let pass. */
export function createRoutes(snapshot: Snapshot): Routes {
  const router = new Router({ sensitive: true, strict: false })
  // Most requests go to a path without parameters: they are found without trying every pattern.
  const fixed = new Map<string, Matched>()
  const endpoints = new Map<string, Endpoint>()
  for (const pipeline of snapshot.pipelines.values()) {
    const codec = pipeline.protocol === undefined ? undefined : snapshot.registry.codecs.get(pipeline.protocol)
    for (const { method, path } of pipeline.routes) {
      if (method === 'WS') continue
      const endpoint = { pipeline, codec, path }
      endpoints.set(`${method} ${path}`, endpoint)
      router.register(path, [method], () => undefined, { name: `${method} ${path}` })
      if (!path.includes(':')) fixed.set(`${method} ${path}`, { ...endpoint, params: {} })
    }
  }
  return {
    match(context) {
      const { method, path } = context
      const exact =
        fixed.get(`${method} ${path}`) ?? (path.endsWith('/') ? fixed.get(`${method} ${path.slice(0, -1)}`) : undefined)
      return exact ?? search(router, endpoints, method, path)
    },
  }
}

function search(router: Router, endpoints: ReadonlyMap<string, Endpoint>, method: string, path: string): Matched {
  const { pathAndMethod, path: samePath } = router.match(path, method)
  const layer = pathAndMethod[0]
  const endpoint = layer && endpoints.get(`${method === 'HEAD' ? 'GET' : method} ${String(layer.path)}`)
  if (layer && endpoint) return { ...endpoint, params: layer.params(path, layer.captures(path)) }
  const codec = nearest(endpoints, path)?.codec
  if (samePath.length === 0)
    return { error: new GatewayError('not_found', { method, path: path.slice(0, 256) }), codec }
  const allow = [...new Set(samePath.flatMap(({ methods }) => methods))].join(', ')
  return { error: new GatewayError('method_not_allowed', { method, path: path.slice(0, 256), allow }), codec }
}

/** The endpoint that shares the most leading segments with `path`: whoever missed it speaks its protocol. */
function nearest(endpoints: ReadonlyMap<string, Endpoint>, path: string): Endpoint | undefined {
  const wanted = path.split('/')
  let best: Endpoint | undefined
  // `/v1` alone says nothing about the protocol.
  let most = 2
  for (const endpoint of endpoints.values()) {
    const have = endpoint.path.split('/')
    let shared = 0
    while (shared < have.length && have[shared] === wanted[shared]) shared++
    if (shared > most) [best, most] = [endpoint, shared]
  }
  return best
}
