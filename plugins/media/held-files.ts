import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'

/** Fields of a request that hold images. */
const fields = ['image', 'images', 'mask'] as const

/**
 * Keeps the candidates at the provider of the requested model, if the request names files by their ids: no other provider
 * has them. Of a model with several places, that is the first.
 */
export default defineStage({
  name: 'held-files',
  summary: 'Keep only candidates at the provider that has the files of the request.',
  config: noConfig,
  needs: ['target', 'request', 'candidates'],
  provides: ['candidates'],
  build:
    () =>
    ({ target, request, candidates }) => {
      if (!namesFiles(request.body)) return { candidates }
      const home = target.model?.provider ?? ''
      const kept = candidates.filter(({ provider }) => provider.name === home)
      if (kept.length > 0) return { candidates: kept }
      const reason = `its provider "${home}", which has the files, does not serve it now`
      throw new GatewayError(
        'invalid_request_error',
        { model: target.name.slice(0, 128), reason },
        { param: 'file_id' },
      )
    },
})

function namesFiles(body: JsonObject): boolean {
  return fields.flatMap((field) => body[field] ?? []).some(isHeld)
}

function isHeld(image: Json): boolean {
  return isObject(image) && image['file_id'] !== undefined && image['file_id'] !== null
}
