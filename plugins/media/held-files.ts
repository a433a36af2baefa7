import { defineStage, noConfig } from '../../engine/index.ts'
import { isObject } from '../../engine/kit.ts'
import type { Json, JsonObject } from '../../engine/index.ts'

/** Fields of a request that hold images. */
const fields = ['image', 'images', 'mask'] as const

/**
 * Keeps the candidates at the provider of the first one, if the request names files by their ids: no other provider has
 * them.
 */
export default defineStage({
  name: 'held-files',
  summary: 'Keep only candidates at the provider that has the files of the request.',
  config: noConfig,
  needs: ['request', 'candidates'],
  provides: ['candidates'],
  build:
    () =>
    ({ request, candidates }) => {
      const [first] = candidates
      if (!first || !namesFiles(request.body)) return { candidates }
      return { candidates: candidates.filter(({ provider }) => provider === first.provider) }
    },
})

function namesFiles(body: JsonObject): boolean {
  return fields.flatMap((field) => body[field] ?? []).some(isHeld)
}

function isHeld(image: Json): boolean {
  return isObject(image) && image['file_id'] !== undefined && image['file_id'] !== null
}
