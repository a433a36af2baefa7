import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import type { ModelRecord } from '../../engine/index.ts'

/**
 * Leaves the candidates whose model the key may use. The model that was asked for must be one of them: what it falls
 * back to does not open it. What counts is the name of a model's own record, never an alias or a virtual name; a key that
 * names a record with `*` may use every model that fits it.
 */
export default defineStage({
  name: 'allow',
  summary: 'Leave only candidates whose model the key may use.',
  config: noConfig,
  needs: ['principal', 'request', 'candidates'],
  maybe: ['target'],
  provides: ['candidates'],
  build:
    () =>
    ({ principal: { models }, request, target, candidates }) => {
      if (models === undefined) return { candidates }
      const may = ({ name, pattern }: ModelRecord) => models.has(name) || (pattern !== undefined && models.has(pattern))
      const allowed = candidates.filter(({ model }) => may(model))
      // A virtual name stands for no model: each of its candidates is as good as the first.
      const asked = target === undefined ? candidates[0]?.model : target.model
      if (allowed.length === 0 || (asked !== undefined && !may(asked))) {
        throw new GatewayError('model_not_allowed', { model: request.model.slice(0, 128) }, { param: 'model' })
      }
      return { candidates: allowed }
    },
})
