import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { holds, isObject, modeOf, placesOf } from '../../engine/kit.ts'
import type { Candidate, Catalog, Json, JsonObject, ModelRecord, Principal } from '../../engine/index.ts'

const param = 'svg.model'

/**
 * Finds the second model of a request for images, which writes their SVG (`svg.model`). The key must be allowed to use
 * it, and it must be served by the provider of the first one. Candidates whose provider does not serve it, or has
 * another name for it, are left out.
 */
export default defineStage({
  name: 'svg-model',
  summary: 'Find the second model of a request for images, which writes their SVG.',
  config: noConfig,
  needs: ['principal', 'request', 'candidates'],
  provides: ['request', 'candidates'],
  build:
    (_, { catalog }) =>
    ({ principal, request, candidates }) => {
      const { svg } = request.body
      const name = isObject(svg) ? svg['model'] : undefined
      if (typeof name !== 'string') return { request, candidates }
      const { name: known, places } = secondModel(name, principal, catalog)
      const upstream = candidates.map(({ provider }) => places.get(provider.name)).find((one) => one !== undefined)
      if (upstream === undefined) {
        const reason = `no provider of "${request.model.slice(0, 128)}" serves it`
        throw new GatewayError('invalid_request_error', { model: known, reason }, { param })
      }
      const served = ({ provider }: Candidate) => places.get(provider.name) === upstream
      return {
        request: upstream === name ? request : request.rewrite((body) => withSvgModel(body, upstream)),
        candidates: candidates.filter(served),
      }
    },
})

/** The model, and its name at each provider that serves it. */
interface SecondModel {
  readonly name: string
  readonly places: ReadonlyMap<string, string>
}

function secondModel(name: string, { models }: Principal, catalog: Catalog): SecondModel {
  const shown = name.slice(0, 128)
  if (modeOf(name) !== undefined) {
    const message = `The model "${shown}" is chosen per conversation and writes no SVG.`
    throw new GatewayError('invalid_request_error', {}, { param, message })
  }
  const model: ModelRecord | undefined = catalog.find(name)
  if (models !== undefined && !(model && holds(models, model.name)))
    throw new GatewayError('model_not_allowed', { model: shown }, { param })
  if (!model) throw new GatewayError('model_not_found', { model: shown }, { param })
  const places = placesOf(model).map(({ provider, upstream_model }) => [provider, upstream_model] as const)
  return { name: model.name, places: new Map(places) }
}

function withSvgModel(body: JsonObject, model: string): JsonObject {
  const svg: Json = { ...(body['svg'] as JsonObject), model }
  return { ...body, svg }
}
