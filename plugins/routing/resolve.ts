import { defineStage, noConfig } from '../../engine/index.ts'
import { unknownModel } from '../../engine/kit.ts'

/** Finds the model record of the requested name. */
export default defineStage({
  name: 'resolve',
  summary: 'Find the model record of the requested name.',
  config: noConfig,
  needs: ['request'],
  reads: ['principal'],
  provides: ['target'],
  build:
    (_, { catalog }) =>
    ({ request, principal }) => {
      const name = request.model
      const model = catalog.find(name)
      if (!model) throw unknownModel(name, principal, catalog)
      return { target: { name, model } }
    },
})
