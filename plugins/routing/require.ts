import { GatewayError, defineStage } from '../../engine/index.ts'
import type { Catalog, ModelRecord, Target } from '../../engine/index.ts'

/** Rejects a model without a flag, before any provider is called. Fallbacks without the flag are dropped. */
export default defineStage({
  name: 'require',
  summary: 'Reject a model that lacks a flag.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['flag'],
    properties: {
      flag: {
        enum: ['supports_mapeval', 'supports_realtime'],
        description: 'Flag that the record of the model must have.',
      },
    },
  } as const,
  needs: ['target'],
  provides: ['target'],
  build: ({ flag }, { catalog }) => {
    const known = new WeakMap<ModelRecord, ModelRecord>()
    return ({ target }) => {
      const { name, model } = target
      if (model?.[flag] !== true)
        throw new GatewayError(
          'invalid_request_error',
          { model: name.slice(0, 128), reason: `it does not carry ${flag}` },
          { param: 'model' },
        )
      if (model.fallbacks.length === 0) return { target }
      const carrying = known.get(model) ?? withFallbacks(model, flag, catalog)
      known.set(model, carrying)
      return { target: { name, model: carrying } satisfies Target }
    }
  },
})

function withFallbacks(
  model: ModelRecord,
  flag: 'supports_mapeval' | 'supports_realtime',
  catalog: Catalog,
): ModelRecord {
  return { ...model, fallbacks: model.fallbacks.filter((name) => catalog.find(name)?.[flag] === true) }
}
