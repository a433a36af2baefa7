import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { holds } from '../../engine/kit.ts'

/**
 * Keeps the candidates whose model the key may use. The requested model must be one of them: access to its fallbacks is
 * not enough. The check uses the name of the model's own record, never an alias or a virtual name. A key may name a
 * pattern such as `vendor/*`.
 */
export default defineStage({
  name: 'allow',
  summary: 'Keep only candidates whose model the key may use.',
  config: noConfig,
  needs: ['principal', 'request', 'candidates'],
  reads: ['target'],
  provides: ['candidates'],
  build:
    () =>
    ({ principal: { models }, request, target, candidates }) => {
      if (models === undefined) return { candidates }
      const allowed = candidates.filter(({ model }) => holds(models, model.name))
      // A virtual name stands for no model of its own, so any candidate is enough.
      const asked = target === undefined ? candidates[0]?.model : target.model
      if (allowed.length === 0 || (asked !== undefined && !holds(models, asked.name))) {
        throw new GatewayError('model_not_allowed', { model: request.model.slice(0, 128) }, { param: 'model' })
      }
      return { candidates: allowed }
    },
})
