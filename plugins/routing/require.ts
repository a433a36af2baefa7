import { GatewayError, defineStage } from '../../engine/index.ts'
import type { Catalog, ModelRecord, Target } from '../../engine/index.ts'

/** Refuses a model that does not carry a flag, before anybody is asked. Its fallbacks without the flag are left out. */
export default defineStage({
  name: 'require',
  summary: 'Refuse a model that does not carry a flag.',
  config: {
    type: 'object',
    additionalProperties: false,
    required: ['flag'],
    properties: {
      flag: {
        enum: ['supports_mapeval', 'supports_realtime'],
        description: 'What the record of the named model must say.',
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
