import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'

/**
 * Leaves the candidates whose model the key may use. What counts is the name of the model's own record, never the
 * alias or virtual name that was asked for.
 */
export default defineStage({
  name: 'allow',
  summary: 'Leave only candidates whose model the key may use.',
  config: noConfig,
  needs: ['principal', 'request', 'candidates'],
  provides: ['candidates'],
  build:
    () =>
    ({ principal: { models }, request, candidates }) => {
      if (models === undefined) return { candidates }
      const allowed = candidates.filter(({ model }) => models.has(model.name))
      if (allowed.length === 0) {
        throw new GatewayError('model_not_allowed', { model: request.model.slice(0, 128) }, { param: 'model' })
      }
      return { candidates: allowed }
    },
})
