import { GatewayError, defineStage } from '../../engine/index.ts'
import type { Catalog, ModelRecord, Target } from '../../engine/index.ts'

/** Flags of models, with the reason that clients are given where one is missing. */
const reasons = {
  supports_mapeval: 'it is not a decision model',
  supports_realtime: 'it serves no realtime sessions',
}

type Flag = keyof typeof reasons

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
          { model: name.slice(0, 128), reason: reasons[flag] },
          { param: 'model' },
        )
      if (model.fallbacks.length === 0) return { target }
      const carrying = known.get(model) ?? withFallbacks(model, flag, catalog)
      known.set(model, carrying)
      return { target: { name, model: carrying } satisfies Target }
    }
  },
})

function withFallbacks(model: ModelRecord, flag: Flag, catalog: Catalog): ModelRecord {
  return { ...model, fallbacks: model.fallbacks.filter((name) => catalog.find(name)?.[flag] === true) }
}
