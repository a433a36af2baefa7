import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'
import { holds } from '../../engine/kit.ts'

/**
 * Leaves the candidates whose model the key may use. The model that was asked for must be one of them: what it falls
 * back to does not open it. What counts is the name of a model's own record, never an alias or a virtual name; a key may
 * name a pattern such as `vendor/*`.
 */
export default defineStage({
  name: 'allow',
  summary: 'Leave only candidates whose model the key may use.',
  config: noConfig,
  needs: ['principal', 'request', 'candidates'],
  reads: ['target'],
  provides: ['candidates'],
  build:
    () =>
    ({ principal: { models }, request, target, candidates }) => {
      if (models === undefined) return { candidates }
      const allowed = candidates.filter(({ model }) => holds(models, model.name))
      // A virtual name stands for no model: each of its candidates is as good as the first.
      const asked = target === undefined ? candidates[0]?.model : target.model
      if (allowed.length === 0 || (asked !== undefined && !holds(models, asked.name))) {
        throw new GatewayError('model_not_allowed', { model: request.model.slice(0, 128) }, { param: 'model' })
      }
      return { candidates: allowed }
    },
})
