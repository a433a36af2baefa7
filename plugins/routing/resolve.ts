import { GatewayError, defineStage, noConfig } from '../../engine/index.ts'

/** Finds the model that the requested name stands for. */
export default defineStage({
  name: 'resolve',
  summary: 'Find the model that the requested name stands for.',
  config: noConfig,
  needs: ['request'],
  provides: ['target'],
  build:
    (_, { catalog }) =>
    ({ request }) => {
      const name = request.model
      const model = catalog.find(name)
      if (!model) throw new GatewayError('model_not_found', { model: shown(name) }, { param: 'model' })
      return { target: { name, model } }
    },
})

/** A name from outside, short enough to be repeated. */
function shown(name: string): string {
  return name.length > 128 ? `${name.slice(0, 128)}…` : name
}
